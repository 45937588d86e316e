import { ResponseValidationError } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { StandardSchema } from '../../src/validation/validate.js';
import { cannedService, contextAt, failureOf, gatewayAt, json } from '../helpers/service.js';

const { answers, requests } = cannedService();

const rows = z.array(z.object({ id: z.number(), at: z.string().transform((text) => new Date(text)) }));
const record = z.object({ data: rows });
const body = { data: [{ id: 5, at: '2026-01-01T00:00:00Z' }] };

/** Any object with `~standard` works. */
const byHand = (validate: StandardSchema<never>['~standard']['validate']): StandardSchema<never> => ({
  '~standard': { version: 1, vendor: 'by hand', validate },
});

describe('a schema passed by the caller', () => {
  test('receives the body, and its output is the result of every undocumented call', async () => {
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

    expect(given).toEqual(Array(7).fill([{ id: 5, at: new Date('2026-01-01T00:00:00Z') }]));
  });

  test('has its issues cut to 50 and their paths shortened', async () => {
    answers(json(body));
    const issue = { message: 'm'.repeat(100_000), path: Array<string>(200).fill('deep'.repeat(100)) };
    const schema = byHand(() => ({ issues: Array<typeof issue>(100_000).fill(issue) }));

    const error = (await failureOf(gatewayAt().presets.list({}, { schema }))) as ResponseValidationError;

    expect(error.issues).toHaveLength(50);
    expect(error.issues[0]?.path.at(-1)).toBe('…');
    expect(error.message).toMatch(/; and more \(GET \/v1\/presets\)\.$/);
    expect(JSON.stringify(error).length).toBeLessThan(150_000);
  });

  test('a schema that rejects the body leads to a ResponseValidationError with its issues and the body', async () => {
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

  test('may be asynchronous and written by hand', async () => {
    const schema = byHand(async (value) => {
      if (typeof value === 'string') return { value: value.toUpperCase() as never };
      return { issues: [{ message: 'a text is due', path: ['deep', { key: 0 }, Symbol('s')] }] };
    });
    answers(json('abc'), json(5));

    expect(await gatewayAt().request({ method: 'GET', path: '/v1/x' }, { schema })).toBe('ABC');
    expect(await failureOf(gatewayAt().request({ method: 'GET', path: '/v1/x' }, { schema }))).toMatchObject({
      issues: [{ path: ['deep', 0, 'Symbol(s)'], message: 'a text is due' }],
    });
  });

  test.each([undefined, null, { issues: [{}] }, { issues: 5 }, new TypeError('mine')])(
    'that returns %j, which is no result, or throws leads to a ResponseValidationError with the body and the cause',
    async (result) => {
      answers(json(body));
      const schema = byHand(() => {
        if (result instanceof Error) throw result;
        return result as never;
      });

      const error = await failureOf(gatewayAt().integrations.list({ schema }));

      const cause = result instanceof Error ? result : expect.any(TypeError);
      expect(error).toMatchObject({ name: 'ResponseValidationError', body, cause });
    },
  );

  test('does not run on an error response', async () => {
    answers(json({ success: false, error: 'no' }));

    await expect(gatewayAt().integrations.list({ schema: z.any() })).rejects.toMatchObject({ name: 'APIError' });
  });

  test.each([[{}], ['zod'], [null], [{ parse: () => 1 }]])(
    'must be a Standard Schema: %j is rejected before anything is sent',
    async (schema) => {
      answers(json(body));

      const error = await failureOf(gatewayAt().integrations.list({ schema: schema as never }));

      expect(error).toMatchObject({ name: 'RequestValidationError', issues: [{ path: ['options', 'schema'] }] });
      expect(requests).toHaveLength(0);
    },
  );

  test('is rejected by a documented call', async () => {
    const misplaced = { schema: rows } as never;

    for (const call of [gatewayAt().usage.retrieve({}, misplaced), contextAt().retrieve('c', misplaced)])
      expect(await failureOf(call)).toMatchObject({ issues: [{ path: ['options', 'schema'] }] });
    expect(requests).toHaveLength(0);
  });
});
