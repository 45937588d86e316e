import type { ValidationIssue } from '../errors.js';
import type { AnySchema } from './schema.js';

/** Hears of every place where a value is not what it has to be. */
class Inspection {
  readonly issues: ValidationIssue[] = [];
  /** The way to the part that is looked at now. */
  readonly path: (string | number)[] = [];

  note(message: string): void {
    this.issues.push({ path: [...this.path], message });
  }
}

/** What is wrong with a value, if anything. */
export function findIssues(schema: AnySchema, value: unknown): ValidationIssue[] | undefined {
  // Twice for what is wrong, so that what is right, as nearly everything is, costs no path and no words.
  if (matches(schema, value)) return undefined;
  const inspection = new Inspection();
  matches(schema, value, inspection);
  return inspection.issues;
}

/** Whether a value is what a schema says. Without an inspection it stops at the first difference. */
function matches(schema: AnySchema, value: unknown, inspection?: Inspection): boolean {
  switch (schema.kind) {
    case 'string':
      if (typeof value !== 'string') return differs(inspection, 'expected string');
      if (value.length < schema.least) return differs(inspection, 'must not be empty');
      if (value.length > schema.most) return differs(inspection, `must not be longer than ${schema.most}`);
      if (schema.pattern === undefined || schema.pattern.test(value)) return true;
      return differs(inspection, `expected ${schema.expected}`);
    case 'number':
      return matchesNumber(schema, value, inspection);
    case 'boolean':
      return typeof value === 'boolean' || differs(inspection, 'expected boolean');
    case 'literal':
      if (schema.values.includes(value)) return true;
      return differs(inspection, `expected ${schema.values.map((one) => JSON.stringify(one)).join(' or ')}`);
    case 'absent':
      return value === schema.absent || matches(schema.of as AnySchema, value, inspection);
    case 'array':
      return matchesArray(schema, value, inspection);
    case 'record':
      return matchesRecord(schema, value, inspection);
    case 'object':
      return matchesObject(schema, value, inspection);
    case 'union':
      if (schema.either.some((one) => matches(one, value))) return true;
      return differs(inspection, 'expected one of the documented forms');
    default:
      return true;
  }
}

function matchesNumber({ whole, least, most }: AnySchema, value: unknown, inspection: Inspection | undefined): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return differs(inspection, 'expected number');
  if (whole && !Number.isSafeInteger(value)) return differs(inspection, 'expected a whole number');
  if (value < least) return differs(inspection, `expected a number of at least ${least}`);
  return value <= most || differs(inspection, `expected a number of at most ${most}`);
}

function matchesArray({ of, least }: AnySchema, value: unknown, inspection: Inspection | undefined): boolean {
  if (!Array.isArray(value)) return differs(inspection, 'expected array');
  let fits = value.length >= least || differs(inspection, 'must not be empty');
  for (let at = 0; at < value.length && (fits || inspection); at += 1) {
    fits = matchesPart(of as AnySchema, value[at], at, inspection) && fits;
  }
  return fits;
}

function matchesRecord({ of, expected }: AnySchema, value: unknown, inspection: Inspection | undefined): boolean {
  // A Map or a Headers would pass for an empty record.
  if (Object.prototype.toString.call(value) !== '[object Object]') return differs(inspection, 'expected record');
  let fits = true;
  for (const [key, one] of Object.entries(value as object)) {
    fits = matchesPart(of as AnySchema, one, key, expected === undefined ? inspection : undefined) && fits;
  }
  return fits || (expected !== undefined && differs(inspection, `expected ${expected}`));
}

function matchesObject(schema: AnySchema, value: unknown, inspection: Inspection | undefined): boolean {
  if (!isObject(value)) return differs(inspection, 'expected object');
  const { keys, fields } = schema;
  let fits = true;
  for (let at = 0; at < keys.length && (fits || inspection); at += 1) {
    const key = keys[at] as string;
    fits = matchesPart(fields[key] as AnySchema, value[key], key, inspection) && fits;
  }
  return schema.strict ? hasOnly(keys, value, inspection) && fits : fits;
}

function matchesPart(
  schema: AnySchema,
  value: unknown,
  key: string | number,
  inspection: Inspection | undefined,
): boolean {
  if (inspection === undefined) return matches(schema, value);
  inspection.path.push(key);
  const fits = matches(schema, value, inspection);
  inspection.path.pop();
  return fits;
}

function hasOnly(keys: readonly string[], value: object, inspection: Inspection | undefined): boolean {
  const unknown = Object.keys(value).filter((key) => !keys.includes(key));
  if (unknown.length === 0) return true;
  return differs(inspection, `unknown ${unknown.length === 1 ? 'field' : 'fields'} ${unknown.join(', ')}`);
}

function differs(inspection: Inspection | undefined, message: string): false {
  inspection?.note(message);
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
