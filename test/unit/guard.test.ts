import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import * as context from '../../src/context/schemas.js';
import * as gateway from '../../src/gateway/schemas.js';
import { guardOf } from '../../src/transport/guard.js';

const schemas = Object.entries({ ...context, ...gateway }).flatMap(([name, value]) =>
  typeof value === 'object' && value !== null && '_zod' in value ? [[name, value] as const] : [],
);

/** Values of the right shape now and then, so that the interesting border is met: nearly right. */
const near = (schema: z.core.$ZodType): fc.Arbitrary<unknown> => {
  const { def } = schema._zod as unknown as { def: Record<string, unknown> };
  const wild = fc.oneof(
    fc.anything(),
    fc.constantFrom(null, undefined, '', 0, -1, 1.5, 2 ** 53, Number.NaN, '2026-01-01T00:00:00Z'),
  );
  return fc.oneof({ weight: 9, arbitrary: right(def) }, { weight: 1, arbitrary: wild });
};

function right(def: Record<string, unknown>): fc.Arbitrary<unknown> {
  switch (def.type) {
    case 'string':
      return fc.oneof(fc.string(), fc.constantFrom('2026-01-01T00:00:00Z', 'x'.repeat(1_025), '2026-13-01'));
    case 'number':
      return fc.oneof(fc.integer(), fc.nat(), fc.double());
    case 'boolean':
      return fc.boolean();
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries as object), 'other');
    case 'literal':
      return fc.constantFrom(...(def.values as unknown[]), false);
    case 'optional':
      return fc.option(near(def.innerType as z.core.$ZodType), { nil: undefined });
    case 'nullable':
      return fc.option(near(def.innerType as z.core.$ZodType));
    case 'array':
      return fc.array(near(def.element as z.core.$ZodType), { maxLength: 3 });
    case 'record':
      return fc.dictionary(
        fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor')),
        near(def.valueType as z.core.$ZodType),
        { maxKeys: 3 },
      );
    case 'object': {
      const shape = Object.fromEntries(Object.entries(def.shape as object).map(([key, field]) => [key, near(field)]));
      return fc
        .tuple(
          fc.record(shape, { requiredKeys: fc.sample(fc.boolean(), 1)[0] ? [] : Object.keys(shape) }),
          fc.option(fc.string()),
        )
        .map(([value, extra]) => (extra === null ? value : { ...value, [extra]: 1 }));
    }
    default:
      return fc.anything();
  }
}

describe('guards', () => {
  test('every schema of an answer or a request is found by this test', () => {
    expect(schemas.length).toBeGreaterThan(25);
  });

  test.each(schemas)('the guard of %s accepts nothing its schema refuses', (_, schema) => {
    const guard = guardOf(schema);
    fc.assert(
      fc.property(near(schema), (value) => {
        if (guard(value)) expect(z.safeParse(schema, value).success).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test('a guard says yes to what it is there for', () => {
    const message = { role: 'assistant', content: 'Hello', extra: 1 };
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const completion = {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    };

    expect(guardOf(gateway.chatCompletionSchema)(completion)).toBe(true);
    expect(guardOf(gateway.chatCompletionSchema)({ ...completion, usage: { ...usage, total_tokens: -1 } })).toBe(false);
    expect(guardOf(gateway.chatCompletionChunkSchema)({ choices: [{ index: 0, delta: { content: 'x' } }] })).toBe(true);
    expect(guardOf(gateway.chatCompletionParamsSchema)({ model: 'm', messages: [message], temperature: 2 })).toBe(true);
    expect(guardOf(gateway.chatCompletionParamsSchema)({ model: 'm', messages: [message], temperature: 2.1 })).toBe(
      false,
    );
    expect(guardOf(context.pinBodySchema)({ messageId: 'm', category: 'decision' })).toBe(true);
    expect(guardOf(context.pinBodySchema)({ messageId: 'm', categry: 'decision' })).toBe(false);
  });

  test('what a guard does not know is left to the schema', () => {
    expect(guardOf(z.union([z.string(), z.number()]))('x')).toBe(false);
    expect(guardOf(z.string().check(z.refine(() => false)))('x')).toBe(false);
  });
});
