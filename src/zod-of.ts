import * as z from 'zod/mini';
import type { AnySchema, Schema } from './transport/schema.js';

/**
 * A description as a zod schema. A property test holds that the two accept and refuse the same values, at the same places: what
 * users check with is what the clients check with.
 */
/* @__NO_SIDE_EFFECTS__ */
export function zodOf<T>(schema: Schema<T>): z.ZodMiniType<T> {
  return written(schema) as z.ZodMiniType<T>; // T is what the description describes
}

function written({
  kind,
  least,
  most,
  whole,
  pattern,
  expected,
  values,
  of,
  absent,
  either,
  fields,
  strict,
}: AnySchema): z.ZodMiniType {
  switch (kind) {
    case 'string': {
      const checks = [
        least > 0 && z.minLength(least),
        most < Number.POSITIVE_INFINITY && z.maxLength(most),
        pattern !== undefined && z.regex(pattern, { error: `expected ${expected}` }),
      ];
      return z.string().check(...checks.filter((check) => check !== false));
    }
    case 'number': {
      const checks = [
        least > Number.NEGATIVE_INFINITY && z.minimum(least),
        most < Number.POSITIVE_INFINITY && z.maximum(most),
      ];
      return (whole ? z.int() : z.number()).check(...checks.filter((check) => check !== false));
    }
    case 'boolean':
      return z.boolean();
    case 'literal':
      return z.literal(values as z.core.util.Literal[]);
    case 'absent':
      return absent === null ? z.nullable(zodOf(of as AnySchema)) : z.optional(zodOf(of as AnySchema));
    case 'array': {
      const list = z.array(zodOf(of as AnySchema));
      return least > 0 ? list.check(z.minLength(least)) : list;
    }
    case 'record':
      return z.record(z.string(), zodOf(of as AnySchema));
    case 'union':
      return z.union(either.map((one) => zodOf(one)));
    case 'object': {
      const parts = Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, zodOf(field)]));
      return strict ? z.strictObject(parts) : z.looseObject(parts);
    }
    default:
      return z.unknown();
  }
}
