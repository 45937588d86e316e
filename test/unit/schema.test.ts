import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import * as params from '../../src/context/params.js';
import * as context from '../../src/context/schemas.js';
import { usageReportSchema } from '../../src/gateway/usage.js';
import type { AnySchema } from '../../src/validation/schema-issues.js';
import { findIssues } from '../../src/validation/schema-issues.js';
import * as gateway from '../../src/wire/completions.js';
import { atLength } from '../helpers/endurance.js';
import { completion } from '../helpers/samples.js';

const schemas = Object.entries({ ...context, ...gateway, usageReportSchema }).flatMap(([name, value]) =>
  value instanceof z.core.$ZodType ? [[name, value as AnySchema] as const] : [],
);

/** Values that are mostly valid with a few mistakes, to test the boundary between valid and invalid. */
function near(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const wild = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(null, undefined, '', 0, -1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, [], {}),
    fc.constantFrom('2026-01-01T00:00:00Z', 'x'.repeat(1_025), '2026-13-01', Symbol('s'), 1n, new Map(), new Date(0)),
  );
  return fc.oneof({ weight: 120, arbitrary: right(schema) }, { weight: 1, arbitrary: wild });
}

function right(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
      return def.checks?.some((check) => 'pattern' in check._zod.def)
        ? fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01 00:00')
        : fc.string();
    case 'number':
      return 'format' in def
        ? fc.oneof(fc.nat(1_024), fc.integer({ min: -2 }))
        : fc.double({ min: -1, max: 3, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'literal':
      return fc.constantFrom(...def.values);
    case 'optional':
      return fc.option(near(def.innerType), { nil: undefined });
    case 'nullable':
      return fc.option(near(def.innerType), { nil: null });
    case 'array':
      return fc.array(near(def.element), { maxLength: 3 });
    case 'record':
      return fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('constructor')), near(def.valueType), { maxKeys: 3 });
    case 'union':
      return fc.oneof(...def.options.map(near));
    case 'object':
      return object(def.shape);
    default:
      return fc.jsonValue();
  }
}

function object(shape: z.core.$ZodShape): fc.Arbitrary<unknown> {
  const fields = Object.entries(shape);
  return fc
    .tuple(
      fc.record(Object.fromEntries(fields.map(([key, field]) => [key, near(field)]))),
      fc.oneof(
        { weight: 12, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.constantFrom(...fields.flatMap(([key]) => misspelt(key)), 'unknown') },
      ),
      fc.boolean(),
    )
    .map(([value, key, drop]) => {
      if (key === null) return value;
      const { [key]: _, ...rest } = value;
      return drop ? rest : { ...value, [key]: value[key] ?? 1 };
    });
}

/** A field name and similar names. */
const misspelt = (name: string): string[] => [name, name.toUpperCase(), `_${name}`];

const placesOf = (issues: ReadonlyArray<{ path: readonly PropertyKey[] }> | undefined) =>
  [...new Set((issues ?? []).map(({ path }) => path.map(String).join('.')))].sort();

/** The same, with each unknown field, and without the terms of a conversation. */
const shownPlacesOf = (issues: ReadonlyArray<{ path: PropertyKey[]; keys?: string[] }> | undefined) => {
  const places = placesOf(issues?.flatMap(({ path, keys }) => keys?.map((key) => ({ path: [key] })) ?? { path }));
  return [...new Set(places.map((path) => path.replace(/(^|\.)(definitions)\..*/s, '$1$2')))].sort();
};

describe('compiled and plain schemas', () => {
  test('are compared for every schema of a response or an argument', () => {
    expect(schemas.length).toBeGreaterThan(20);
  });

  test.each(schemas)('%s: accept the same values, and report the same paths', (_, schema) => {
    const compiled = z.compile(schema, { strict: true });
    let accepted = 0;
    fc.assert(
      fc.property(near(schema), (value) => {
        const fits = z.validate(schema, value);
        const issues = findIssues(schema, value);

        expect(z.validate(compiled, value)).toBe(fits);
        expect(issues === undefined).toBe(fits);
        expect(placesOf(z.safeParse(compiled, value).error?.issues)).toEqual(
          placesOf(z.safeParse(schema, value).error?.issues),
        );
        expect(placesOf(issues)).toEqual(shownPlacesOf(z.safeParse(schema, value).error?.issues));
        for (const { message } of issues ?? []) expect(message).toMatch(/^(expected|must|is unknown;) /);
        if (fits) accepted += 1;
      }),
      { numRuns: atLength(200, 600) },
    );
    expect(accepted).toBeGreaterThan(atLength(8, 25));
  });

  test('accept valid values, and describe each mistake', () => {
    const messagesOf = (schema: AnySchema, value: unknown) =>
      findIssues(schema, value)?.map(({ path, message }) => `${path.join('.')}: ${message}`);
    const { usage } = completion();

    expect(messagesOf(gateway.chatCompletionSchema, { ...completion(), extra: 1 })).toBeUndefined();
    const wrong = { ...completion(), usage: { ...usage, total_tokens: -1 }, choices: [{ index: 0.5 }, 1] };
    expect(messagesOf(gateway.chatCompletionSchema, wrong)).toEqual([
      'choices.0.index: expected a whole number',
      'choices.0.message: expected object, got nothing',
      'choices.0.finish_reason: expected string, got nothing',
      'choices.1: expected object, got number',
      'usage.total_tokens: expected a number of at least 0',
    ]);
    expect(messagesOf(gateway.chatCompletionParamsSchema, { model: '', messages: [], temperature: 2.1 })).toEqual([
      'model: must not be empty',
      'messages: must not be empty',
      'temperature: expected a number of at most 2',
    ]);
    const query = { workspaceId: 'x'.repeat(1_025), typ: 'fact', TYPE: 'fact', type: 'a' };
    expect(messagesOf(params.memoryListQuerySchema, query)).toEqual([
      'workspaceId: must not be longer than 1024',
      'type: expected "preference" or "fact" or "constraint" or "definition"',
      'typ: is unknown; expected one of workspaceId, type',
      'TYPE: is unknown; did you mean type?',
    ]);
    expect(messagesOf(context.decisionSchema, { id: '1', decision: 'x', reason: 1, timestamp: 'soon' })).toEqual([
      'reason: expected string, got number',
      'timestamp: expected an ISO 8601 time',
    ]);
  });
});
