import { ResponseValidationError, type StandardSchema } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { cannedService, contextAt, failureOf, gatewayAt, json } from '../helpers/service.js';

const { answers, requests } = cannedService();

const rows = z.array(z.object({ id: z.number(), at: z.string().transform((text) => new Date(text)) }));
const record = z.object({ data: rows });
const body = { data: [{ id: 5, at: '2026-01-01T00:00:00Z' }] };

/** Any object with `~standard` will do; this one takes its time. */
const upperCased: StandardSchema<string> = {
  '~standard': {
    version: 1,
    vendor: 'by hand',
    validate: async (value) => {
      await Promise.resolve();
      if (typeof value === 'string') return { value: value.toUpperCase() };
      return { issues: [{ message: 'a text is due', path: ['deep', { key: 0 }, Symbol('s')] }] };
    },
  },
};

describe('a schema of the caller', () => {
  test('sees what the method gives, and its output is the answer', async () => {
    answers(json(body));

    const answer = await gatewayAt().presets.execute('p', { input: 'a', model: 'b' }, { schema: record });

    expect(answer.data[0]?.at).toEqual(new Date('2026-01-01T00:00:00Z'));
  });

  test.each([
    { answer: body.data, as: 'bare' },
    { answer: body, as: 'in data' },
    { answer: { presets: body.data, total: 1 }, as: 'in presets' },
    { answer: { integrations: body.data }, as: 'in integrations' },
  ])('sees the array of a list that comes $as', async ({ answer }) => {
    answers(json(answer));

    const lists = [
      await gatewayAt().presets.list({}, { schema: rows }),
      await gatewayAt().integrations.list({ schema: rows }),
    ];

    for (const list of lists) expect(list[0]?.at).toEqual(new Date('2026-01-01T00:00:00Z'));
  });

  test.each([{ rows: [] }, null, 'x', 5])('cannot see a list where there is none: %j', async (answer) => {
    answers(json(answer));

    const error = await failureOf(gatewayAt().presets.list({}, { schema: z.any() }));

    expect(error).toMatchObject({ name: 'ResponseValidationError', body: answer });
    expect(String(error)).toMatch(/is not an array.*client\.request\(\) with a schema/);
  });

  test('serves every undocumented answer', async () => {
    answers(json(body));
    const gateway = gatewayAt();
    const given = [
      await gateway.presets.list({}, { schema: rows }),
      (await gateway.presets.execute('p', { input: 'a', model: 'b' }, { schema: record })).data,
      (await gateway.files.upload({ file: new Blob(['a']), purpose: 'p' }, { schema: record })).data,
      await gateway.integrations.list({ schema: rows }),
      (await gateway.integrations.execute('i', { action: 'a' }, { schema: record })).data,
      (await gateway.request({ method: 'GET', path: '/v1/x' }, { schema: record })).data,
      (await contextAt().request({ method: 'GET', path: '/api/x' }, { schema: record })).data,
    ];

    expect(given.map(([row]) => row?.id)).toEqual([5, 5, 5, 5, 5, 5, 5]);
  });

  test('that finds too much to tell is told in part', async () => {
    answers(json(body));
    const issue = { message: 'm'.repeat(100_000), path: Array<string>(5_000).fill('deep'.repeat(100)) };
    const validate = () => ({ issues: Array<typeof issue>(100_000).fill(issue) });
    const schema: StandardSchema<never> = { '~standard': { version: 1, vendor: 'by hand', validate } };

    const error = (await failureOf(gatewayAt().presets.list({}, { schema }))) as ResponseValidationError;

    expect(error.issues).toHaveLength(50);
    expect(error.issues[0]?.path.at(-1)).toBe('…');
    expect(error.message).toMatch(/; and more \(GET \/v1\/presets\)\.$/);
    expect(JSON.stringify(error).length).toBeLessThan(150_000);
  });

  test('that does not accept the body is a ResponseValidationError with its issues and the body', async () => {
    answers(json({ data: [{ id: 'CANARY', at: '' }] }));

    const error = (await failureOf(gatewayAt().presets.list({}, { schema: rows }))) as ResponseValidationError;

    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error.issues[0]?.path).toEqual([0, 'id']);
    expect(error.body).toEqual({ data: [{ id: 'CANARY', at: '' }] });
    expect(String(error)).not.toContain('CANARY');
    expect(error.message).toMatch(
      /^The response does not match the given schema: \[0\]\.id: .* \(GET \/v1\/presets\)\.$/,
    );
  });

  test('may be asynchronous, and made by hand', async () => {
    answers(json('abc'));
    expect(await gatewayAt().request({ method: 'GET', path: '/v1/x' }, { schema: upperCased })).toBe('ABC');

    answers(json(5));
    await expect(gatewayAt().request({ method: 'GET', path: '/v1/x' }, { schema: upperCased })).rejects.toMatchObject({
      issues: [{ path: ['deep', 0, 'Symbol(s)'], message: 'a text is due' }],
    });
  });

  test('that throws loses no answer', async () => {
    answers(json(body));
    const failure = new Error('a mistake in the schema');
    const schema: StandardSchema<never> = {
      '~standard': {
        version: 1,
        vendor: 'by hand',
        validate: () => {
          throw failure;
        },
      },
    };

    const error = await failureOf(gatewayAt().integrations.list({ schema }));

    expect(error).toMatchObject({ name: 'ResponseValidationError', body, cause: failure });
  });

  test('is not asked about an error', async () => {
    answers(json({ success: false, error: 'no' }));

    await expect(gatewayAt().integrations.list({ schema: z.any() })).rejects.toMatchObject({ name: 'APIError' });
  });

  test.each([[{}], ['zod'], [null], [{ parse: () => 1 }]])(
    '%j is no Standard Schema, and nothing is sent',
    async (schema) => {
      answers(json(body));

      const error = await failureOf(gatewayAt().integrations.list({ schema: schema as never }));

      expect(error).toMatchObject({ name: 'RequestValidationError', issues: [{ path: ['options', 'schema'] }] });
      expect(requests).toHaveLength(0);
    },
  );

  test('has no place on a documented call', async () => {
    answers(json(body));
    const gateway = gatewayAt();
    const misplaced = { schema: rows } as never;

    await expect(gateway.usage.retrieve({}, misplaced)).rejects.toMatchObject({ name: 'RequestValidationError' });
    await expect(contextAt().retrieve('c', misplaced)).rejects.toMatchObject({ name: 'RequestValidationError' });
    expect(requests).toHaveLength(0);
  });
});
