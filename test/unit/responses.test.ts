import { expect, test } from 'vitest';
import * as context from '../../src/context/schemas.js';
import { usageReportSchema } from '../../src/gateway/usage.js';
import { type AnySchema, findIssues } from '../../src/validation/schema-issues.js';
import { chatCompletionSchema } from '../../src/wire/completions.js';
import * as samples from '../helpers/samples.js';

type Path = (string | number)[];

/** What a service may leave out of what the API documents. */
const OPTIONAL = ['usage'];
const MAPS = ['stylePreferences', 'definitions', 'breakdown_by_model'];

/** Every documented path of a response. Those of maps are left out, because their keys belong to the service. */
function placesOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  if (MAPS.includes(String(at.at(-1)))) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...at, Array.isArray(value) ? Number(key) : key];
    return [path, ...placesOf(inner, path)];
  });
}

test.each<{ name: string; schema: AnySchema; valid: object }>([
  {
    name: 'ChatCompletion',
    schema: chatCompletionSchema,
    valid: samples.changed(samples.completion(), ['choices', 0, 'message', 'content'], undefined), // may be absent
  },
  { name: 'RollingSummary', schema: context.rollingSummarySchema, valid: samples.rollingSummary() },
  { name: 'UsageReport', schema: usageReportSchema, valid: samples.usageReport() },
  {
    name: 'ContextMetadata',
    schema: context.contextMetadataSchema,
    valid: samples.changed(samples.metadata(), ['lastCompactionAt'], undefined), // may be absent
  },
  { name: 'CompactionResult', schema: context.compactionResultSchema, valid: samples.compactAnswer().result },
])('a $name is accepted if and only if it matches the documentation', ({ schema, valid }) => {
  expect(findIssues(schema, valid)).toBeUndefined();
  for (const path of placesOf(valid)) {
    const given = samples.valueAt(valid, path);
    const mayLack = OPTIONAL.includes(path.join('.'));
    for (const wrong of [...(mayLack ? [] : [undefined]), null, typeof given === 'object' ? 'text' : { not: 'this' }]) {
      const value = samples.changed(valid, path, wrong);
      const before = structuredClone(value);
      expect(findIssues(schema, value)?.map((issue) => issue.path)).toContainEqual(path);
      expect(value).toEqual(before);
    }
    if (typeof given === 'string' && !/^\d{4}-/.test(given))
      expect(findIssues(schema, samples.changed(valid, path, ''))).toBeUndefined();
    if (typeof given === 'object' && !MAPS.includes(String(path.at(-1))) && !Array.isArray(given))
      expect(findIssues(schema, samples.changed(valid, [...path, 'addedLater'], { by: 'them' }))).toBeUndefined();
  }
});
