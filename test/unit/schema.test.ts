import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import * as context from '../../src/context/schemas.js';
import * as gateway from '../../src/gateway/schemas.js';
import { isUsualChunk } from '../../src/gateway/usual-chunk.js';
import { findIssues } from '../../src/transport/matches.js';
import type { AnySchema } from '../../src/transport/schema.js';
import { zodOf } from '../../src/zod-of.js';

const schemas = Object.entries({ ...context, ...gateway }).flatMap(([name, value]) =>
  typeof value === 'object' && 'kind' in value ? [[name, value as AnySchema] as const] : [],
);

/** Values that are right in most places and wrong in some, so that the interesting border is met. */
function near(schema: AnySchema): fc.Arbitrary<unknown> {
  const wild = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(null, undefined, '', 0, -1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, [], {}),
    fc.constantFrom('2026-01-01T00:00:00Z', 'x'.repeat(1_025), '2026-13-01', Symbol('s'), 1n, new Map(), new Date(0)),
  );
  return fc.oneof({ weight: 120, arbitrary: right(schema) }, { weight: 1, arbitrary: wild });
}

function right({ kind, whole, pattern, values, of, absent, either, fields }: AnySchema): fc.Arbitrary<unknown> {
  const inner = of === undefined ? fc.constant(undefined) : near(of);
  switch (kind) {
    case 'string':
      return pattern === undefined ? fc.string() : fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01 00:00');
    case 'number':
      return whole ? fc.oneof(fc.nat(1_024), fc.integer({ min: -2 })) : fc.double({ min: -1, max: 3, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'literal':
      return fc.constantFrom(...values);
    case 'absent':
      return fc.option(inner, { nil: absent });
    case 'array':
      return fc.array(inner, { maxLength: 3 });
    case 'record':
      return fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('constructor')), inner, { maxKeys: 3 });
    case 'union':
      return fc.oneof(...either.map(near));
    case 'object':
      return fc
        .tuple(
          fc.record(Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, near(field)]))),
          fc.oneof(
            { weight: 12, arbitrary: fc.constant(null) },
            { weight: 1, arbitrary: fc.constantFrom(...Object.keys(fields).flatMap(misspelt), 'unknown') },
          ),
          fc.boolean(),
        )
        .map(([value, key, drop]) => {
          if (key === null) return value;
          const { [key]: _, ...rest } = value;
          return drop ? rest : { ...value, [key]: value[key] ?? 1 };
        });
    default:
      return fc.jsonValue();
  }
}

/** A field, and names it is confused with. */
const misspelt = (name: string): string[] => [name, name.toUpperCase(), `_${name}`];

type Issues = ReadonlyArray<{ path: readonly PropertyKey[]; message: string }> | undefined;

/** Where a value differs. Inside a map whose names are the user's, the clients name the map only. */
function placesOf(issues: Issues): string[] {
  const places = (issues ?? []).map(({ path }) => path.map(String));
  return [
    ...new Set(places.map((path) => path.slice(0, path.indexOf('definitions') + 1 || path.length).join('.'))),
  ].sort();
}

/** What is said of each place, apart from such maps. */
function wordsOf(issues: Issues): string[] {
  const named = (issues ?? []).filter(({ path }) => !path.includes('definitions'));
  return named.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
}

describe('the clients and the zod schemas that users get agree', () => {
  test('every description of an answer or an argument is found by this test', () => {
    expect(schemas.length).toBeGreaterThan(25);
  });

  test.each(schemas)('%s: the same values, and the same words for the same places where they differ', (_, schema) => {
    const written = zodOf(schema);
    let right = 0;
    fc.assert(
      fc.property(near(schema), (value) => {
        const issues = findIssues(schema, value);
        const result = z.safeParse(written, value);
        expect(issues === undefined).toBe(result.success);
        expect(placesOf(issues)).toEqual(placesOf(result.error?.issues));
        // Of one place zod may have more to say: of a list where a text belongs, that it is empty besides.
        expect(wordsOf(result.error?.issues)).toEqual(expect.arrayContaining(wordsOf(issues)));
        if (result.success) right += 1;
      }),
      { numRuns: 600 },
    );
    expect(right).toBeGreaterThan(25);
  });

  test('the quick yes for a usual chunk accepts nothing that its description refuses', () => {
    // One choice, its index 0, and everything it looks at nearly right.
    const { fields } = gateway.chatCompletionChunkSchema;
    const choice = right(fields.choices?.of as AnySchema).map((one) => ({ ...(one as object), index: 0 }));
    const single = fc
      .tuple(right(gateway.chatCompletionChunkSchema), fc.oneof(choice, near(fields.choices?.of as AnySchema)))
      .map(([chunk, one]) => ({ ...(chunk as object), usage: null, choices: [one] }));
    let yes = 0;
    let no = 0;
    fc.assert(
      fc.property(fc.oneof(single, near(gateway.chatCompletionChunkSchema)), (value) => {
        const accepted = findIssues(gateway.chatCompletionChunkSchema, value) === undefined;
        if (isUsualChunk(value)) {
          yes += 1;
          expect(accepted).toBe(true);
        } else if (!accepted) no += 1;
      }),
      { numRuns: 5_000 },
    );
    expect(yes).toBeGreaterThan(50);
    expect(no).toBeGreaterThan(50);
  });

  test.each([
    { error: { message: 'overloaded' } },
    { error: 'overloaded' },
    { success: false },
    { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ])('a chunk with %j is not passed by: it takes the closer look', (more) => {
    const chunk = { choices: [{ index: 0, delta: { content: 'a' } }] };

    expect(isUsualChunk(chunk)).toBe(true);
    expect(isUsualChunk({ ...chunk, ...more })).toBe(false);
  });

  test('a value with a thousand mistakes is looked at until there are enough of them', () => {
    let looked = 0;
    const report = { period: { start: 'a', end: 'b' }, breakdown_by_model: {} };
    for (let at = 0; at < 1_000; at += 1) {
      const get = () => {
        looked += 1;
        return 'x';
      };
      Object.defineProperty(report.breakdown_by_model, `model-${at}`, { get, enumerable: true });
    }

    expect(findIssues(gateway.usageReportSchema, report)).toHaveLength(50);
    expect(looked).toBeLessThan(60);
  });

  test('what is accepted, and what is said of the rest', () => {
    const message = { role: 'assistant', content: 'Hello', extra: 1 };
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const choice = { index: 0, message, finish_reason: 'stop' };
    const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage };
    const messagesOf = (schema: AnySchema, value: unknown) =>
      findIssues(schema, value)?.map(({ path, message }) => `${path.join('.')}: ${message}`);

    expect(messagesOf(gateway.chatCompletionSchema, completion)).toBeUndefined();
    expect(messagesOf(gateway.chatCompletionSchema, { ...completion, usage: { ...usage, total_tokens: -1 } })).toEqual([
      'usage.total_tokens: expected a number of at least 0',
    ]);
    expect(
      messagesOf(gateway.chatCompletionSchema, { ...completion, choices: [{ ...choice, index: 0.5 }, 1] }),
    ).toEqual(['choices.0.index: expected a whole number', 'choices.1: expected object, got number']);
    expect(messagesOf(gateway.chatCompletionParamsSchema, { model: '', messages: [], temperature: 2.1 })).toEqual([
      'model: must not be empty',
      'messages: must not be empty',
      'temperature: expected a number of at most 2',
    ]);
    expect(
      messagesOf(context.pinBodySchema, { messageId: 'x'.repeat(1_025), categry: 'decision', category: 'a' }),
    ).toEqual([
      'messageId: must not be longer than 1024',
      'category: expected "decision" or "requirement" or "reference" or "other"',
      ': unknown field categry',
    ]);
    expect(messagesOf(context.pinBodySchema, { messageId: 'm', message_id: 'm', CATEGORY: 'decision', x: 1 })).toEqual([
      ': unknown fields message_id, CATEGORY, x; did you mean messageId, category?',
    ]);
    expect(messagesOf(context.decisionSchema, { id: '1', decision: 'x', reason: 1, timestamp: 'soon' })).toEqual([
      'reason: expected string, got number',
      'timestamp: expected an ISO 8601 time',
    ]);
    expect(messagesOf(gateway.openAnswerSchema, 'x')).toEqual([': expected one of the documented forms']);
  });
});
