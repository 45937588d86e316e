import { MAX_ISSUES, type ValidationIssue } from '../errors.js';
import type { AnySchema } from './schema.js';
import { tooLarge, tooSmall, unknownFields, wrongForm, wrongKind } from './wording.js';

/** Hears of the places where a value is not what it has to be, until there are enough of them. */
class Inspection {
  readonly issues: ValidationIssue[] = [];
  /** The way to the part that is looked at now. */
  readonly path: (string | number)[] = [];

  note(message: string): void {
    this.issues.push({ path: [...this.path], message });
  }
}

/** What is wrong with a value, if anything; not more than an error keeps. */
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
      if (typeof value !== 'string') break;
      if (value.length < schema.least) return differs(inspection, tooSmall(schema));
      if (value.length > schema.most) return differs(inspection, tooLarge(schema));
      return schema.pattern === undefined || schema.pattern.test(value) || differs(inspection, wrongForm(schema));
    case 'number':
      if (!(schema.whole ? Number.isSafeInteger(value) : Number.isFinite(value))) break;
      if ((value as number) < schema.least) return differs(inspection, tooSmall(schema));
      return (value as number) <= schema.most || differs(inspection, tooLarge(schema));
    case 'boolean':
      if (typeof value !== 'boolean') break;
      return true;
    case 'literal':
      if (!schema.values.includes(value)) break;
      return true;
    case 'absent':
      return value === schema.absent || matches(schema.of as AnySchema, value, inspection);
    case 'array':
      if (!Array.isArray(value)) break;
      return matchesArray(schema, value, inspection);
    case 'record':
      // A Map or a Headers would pass for an empty record.
      if (Object.prototype.toString.call(value) !== '[object Object]') break;
      return matchesRecord(schema, value as Record<string, unknown>, inspection);
    case 'object':
      if (!isObject(value)) break;
      return matchesObject(schema, value, inspection);
    case 'union':
      if (!schema.either.some((one) => matches(one, value))) break;
      return true;
    default:
      return true;
  }
  return differs(inspection, wrongKind(schema, value));
}
function matchesArray(schema: AnySchema, items: unknown[], inspection: Inspection | undefined): boolean {
  let fits = items.length >= schema.least || differs(inspection, tooSmall(schema));
  for (let at = 0; at < items.length && goesOn(fits, inspection); at += 1) {
    fits = matchesPart(schema.of as AnySchema, items[at], at, inspection) && fits;
  }
  return fits;
}

function matchesRecord(
  schema: AnySchema,
  record: Record<string, unknown>,
  inspection: Inspection | undefined,
): boolean {
  const named = schema.expected === undefined ? inspection : undefined;
  let fits = true;
  for (const key of Object.keys(record)) {
    if (!goesOn(fits, named)) break;
    fits = matchesPart(schema.of as AnySchema, record[key], key, named) && fits;
  }
  return fits || (schema.expected !== undefined && differs(inspection, wrongForm(schema)));
}

function matchesObject(
  { keys, fields, strict }: AnySchema,
  object: Record<string, unknown>,
  inspection: Inspection | undefined,
): boolean {
  let fits = true;
  for (let at = 0; at < keys.length && goesOn(fits, inspection); at += 1) {
    const key = keys[at] as string;
    fits = matchesPart(fields[key] as AnySchema, object[key], key, inspection) && fits;
  }
  if (!strict) return fits;
  const unknown = Object.keys(object).filter((key) => !keys.includes(key));
  return unknown.length === 0 ? fits : differs(inspection, unknownFields(unknown, keys));
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

function goesOn(fits: boolean, inspection: Inspection | undefined): boolean {
  return fits || (inspection !== undefined && inspection.issues.length < MAX_ISSUES);
}

function differs(inspection: Inspection | undefined, message: string): false {
  inspection?.note(message);
  return false;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
