import type * as z from 'zod/mini';

/** Whether a value is certainly accepted by a schema. `false` means: ask the schema. */
export type Guard = (value: unknown) => boolean;

type AnySchema = z.core.$ZodType;
type Check = z.core.$ZodCheck;

/**
 * A quick yes in front of a schema. A schema walks a value with an object for every node, about 5 µs for a completion; these
 * closures say yes to the same value in a tenth of it. Whatever is not a plain yes goes to the schema, which knows the issues.
 * A property test holds that no guard accepts what its schema refuses.
 */
export function guardOf(schema: AnySchema): Guard {
  // The union of all definitions has no discriminated type of its own; what is not listed here is left to the schema.
  const { def } = schema._zod as unknown as { def: Definition };
  const accepts = guardOfType(def);
  const checks = (def.checks ?? []).map(guardOfCheck);
  if (def.check !== undefined) checks.push(guardOfDefinition(def));
  if (checks.length === 0) return accepts;
  return (value) => accepts(value) && checks.every((check) => check(value));
}

interface Definition {
  readonly type?: string;
  readonly check?: string;
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly value?: number;
  readonly inclusive?: boolean;
  readonly checks?: readonly Check[];
  readonly shape?: Readonly<Record<string, AnySchema>>;
  readonly catchall?: AnySchema;
  readonly element?: AnySchema;
  readonly innerType?: AnySchema;
  readonly valueType?: AnySchema;
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly values?: readonly unknown[];
}

const NO: Guard = () => false;

function guardOfType(def: Definition): Guard {
  switch (def.type) {
    case 'unknown':
      return () => true;
    case 'string':
      return (value) => typeof value === 'string';
    case 'number':
      return Number.isFinite;
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'enum':
      return oneOf(Object.values(def.entries ?? {}));
    case 'literal':
      return oneOf(def.values ?? []);
    case 'optional':
      return def.innerType === undefined ? NO : or(undefined, guardOf(def.innerType));
    case 'nullable':
      return def.innerType === undefined ? NO : or(null, guardOf(def.innerType));
    case 'array':
      return def.element === undefined ? NO : arrayOf(guardOf(def.element));
    case 'record':
      return def.valueType === undefined ? NO : recordOf(guardOf(def.valueType));
    case 'object':
      return def.shape === undefined ? NO : objectOf(def.shape, def.catchall);
    default:
      return NO;
  }
}

function guardOfCheck(check: Check): Guard {
  return guardOfDefinition(check._zod.def as Definition);
}

function guardOfDefinition({
  check,
  format,
  pattern,
  minimum = 0,
  maximum = 0,
  value: bound = 0,
  inclusive,
}: Definition): Guard {
  switch (check) {
    case 'min_length':
      return (value) => (value as string | unknown[]).length >= minimum;
    case 'max_length':
      return (value) => (value as string | unknown[]).length <= maximum;
    case 'greater_than':
      return (value) => (inclusive ? (value as number) >= bound : (value as number) > bound);
    case 'less_than':
      return (value) => (inclusive ? (value as number) <= bound : (value as number) < bound);
    case 'number_format':
      return format === 'safeint' ? Number.isSafeInteger : NO;
    case 'string_format':
      return pattern !== undefined && !pattern.global && !pattern.sticky
        ? (value) => pattern.test(value as string)
        : NO;
    default:
      return NO;
  }
}

function oneOf(values: readonly unknown[]): Guard {
  return (value) => values.includes(value);
}

function or(alternative: null | undefined, guard: Guard): Guard {
  return (value) => value === alternative || guard(value);
}

function arrayOf(guard: Guard): Guard {
  return (value) => {
    if (!Array.isArray(value)) return false;
    for (let at = 0; at < value.length; at += 1) if (!guard(value[at])) return false;
    return true;
  };
}

function recordOf(guard: Guard): Guard {
  return (value) => {
    if (!isPlain(value)) return false;
    for (const key of Reflect.ownKeys(value)) {
      if (typeof key !== 'string' || key === '__proto__' || !guard(value[key])) return false;
    }
    return true;
  };
}

function objectOf(shape: Readonly<Record<string, AnySchema>>, catchall: AnySchema | undefined): Guard {
  const keys = Object.keys(shape);
  const guards = Object.values(shape).map(guardOf);
  const closed = catchall?._zod.def.type === 'never';
  if (catchall !== undefined && !closed && catchall._zod.def.type !== 'unknown') return NO;
  return (value) => {
    if (!isPlain(value)) return false;
    for (let at = 0; at < keys.length; at += 1) {
      if (!(guards[at] as Guard)(value[keys[at] as string])) return false;
    }
    if (closed) for (const key in value) if (!Object.hasOwn(shape, key)) return false;
    return true;
  };
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
