import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contextMetadataSchema, rollingSummarySchema } from '../../src/context/schemas.js';
import { usageReportSchema } from '../../src/gateway/usage.js';
import { findIssues } from '../../src/validation/schema-issues.js';
import { chatCompletionSchema } from '../../src/wire/completions.js';
import { atLength } from '../helpers/endurance.js';

/** Written from the service's documentation, not from the schemas. */
const text = fc.string();
const count = fc.nat();
const time = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const map = (value: fc.Arbitrary<unknown>) =>
  fc.dictionary(
    text.filter((key) => key !== '__proto__'),
    value,
    { maxKeys: 3 },
  );
const list = (item: fc.Arbitrary<unknown>) => fc.array(item, { minLength: 1, maxLength: 3 });

const ANSWERS = [
  {
    name: 'ChatCompletion',
    schema: chatCompletionSchema,
    valid: fc.record({
      id: text,
      object: text,
      created: count,
      model: text,
      choices: list(
        fc.record({ index: count, message: fc.record({ role: text, content: text }), finish_reason: text }),
      ),
      usage: fc.record({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
    }),
  },
  {
    name: 'RollingSummary',
    schema: rollingSummarySchema,
    valid: fc.record({
      goals: list(text),
      decisions: list(fc.record({ id: text, decision: text, reason: text, timestamp: time })),
      requirements: list(text),
      currentPlan: list(text),
      openQuestions: list(text),
      definitions: map(text),
      importantReferences: list(fc.record({ type: text, value: text, label: text })),
      stylePreferences: map(fc.jsonValue()),
      lastUpdated: time,
      version: count,
    }),
  },
  {
    name: 'UsageReport',
    schema: usageReportSchema,
    valid: fc.record({
      period: fc.record({ start: text, end: text }),
      tokens_used: count,
      tokens_included: count,
      tokens_remaining: count,
      overage_tokens: count,
      estimated_overage_cost: fc.double({ noNaN: true, noDefaultInfinity: true }),
      breakdown_by_model: map(count),
    }),
  },
  {
    name: 'ContextMetadata',
    schema: contextMetadataSchema,
    valid: fc.record({
      totalTokens: count,
      compressedTokens: count,
      preservationRatio: fc.double({ noNaN: true, noDefaultInfinity: true }),
      recentMessageCount: count,
    }),
  },
];

type Path = (string | number)[];

/** Every documented path of a response. Maps are left out, because their keys belong to the service. */
function placesOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const open = ['stylePreferences', 'definitions', 'breakdown_by_model'].includes(String(at.at(-1)));
  if (open) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...at, Array.isArray(value) ? Number(key) : key];
    return [path, ...placesOf(inner, path)];
  });
}

function parentOf(answer: unknown, path: Path): Record<string | number, unknown> {
  return path.slice(0, -1).reduce((value, key) => (value as Record<string | number, unknown>)[key], answer) as Record<
    string | number,
    unknown
  >;
}

describe('a response is accepted if and only if it matches the documentation', () => {
  test.each(ANSWERS)('$name', ({ schema, valid }) => {
    const mutated = fc.tuple(valid, fc.nat(), fc.constantFrom('none', 'drop', 'retype', 'null', 'extra', '__proto__'));
    fc.assert(
      fc.property(mutated, ([answer, choice, mutation]) => {
        const value = JSON.parse(JSON.stringify(answer));
        const places = placesOf(value);
        const path = places[choice % places.length] as Path;
        const parent = parentOf(value, path);
        const key = path.at(-1) as string | number;
        if (mutation === 'drop') {
          if (Array.isArray(parent)) parent[key] = undefined;
          else delete parent[key];
        } else if (mutation === 'retype') parent[key] = typeof parent[key] === 'object' ? 'text' : { not: 'this' };
        else if (mutation === 'null') parent[key] = null;
        else if (mutation === 'extra' && !Array.isArray(parent)) parent.addedLater = { by: 'the service' };
        else if (mutation === '__proto__' && !Array.isArray(parent)) {
          Object.defineProperty(parent, '__proto__', { value: { polluted: true }, enumerable: true });
        }
        const before = JSON.stringify(value);

        const issues = findIssues(schema, value);

        const wrong = ['drop', 'retype', 'null'].includes(mutation);
        expect(issues !== undefined).toBe(wrong);
        if (wrong) expect(issues?.some((issue) => issue.path.join('.') === path.join('.'))).toBe(true);
        expect(JSON.stringify(value)).toBe(before);
        expect(Reflect.get({}, 'polluted')).toBeUndefined();
      }),
      { numRuns: atLength(250, 750) },
    );
  });
});
