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
        least > 0 && z.minLength(least, { error: 'must not be empty' }),
        most < Number.POSITIVE_INFINITY && z.maxLength(most, { error: `must not be longer than ${most}` }),
        pattern !== undefined && z.regex(pattern, { error: `expected ${expected}` }),
      ];
      return z.string({ error: 'expected string' }).check(...checks.filter((check) => check !== false));
    }
    case 'number': {
      const checks = [
        least > Number.NEGATIVE_INFINITY && z.minimum(least, { error: `expected a number of at least ${least}` }),
        most < Number.POSITIVE_INFINITY && z.maximum(most, { error: `expected a number of at most ${most}` }),
      ];
      return (whole ? z.int({ error: 'expected a whole number' }) : z.number({ error: 'expected number' })).check(
        ...checks.filter((check) => check !== false),
      );
    }
    case 'boolean':
      return z.boolean({ error: 'expected boolean' });
    case 'literal':
      return z.literal(values as z.core.util.Literal[], {
        error: `expected ${values.map((one) => JSON.stringify(one)).join(' or ')}`,
      });
    case 'absent':
      return absent === null ? z.nullable(zodOf(of as AnySchema)) : z.optional(zodOf(of as AnySchema));
    case 'array': {
      const list = z.array(zodOf(of as AnySchema), { error: 'expected array' });
      return least > 0 ? list.check(z.minLength(least, { error: 'must not be empty' })) : list;
    }
    case 'record':
      return z.record(z.string(), zodOf(of as AnySchema), { error: 'expected record' });
    case 'union':
      return z.union(
        either.map((one) => zodOf(one)),
        { error: 'expected one of the documented forms' },
      );
    case 'object': {
      const parts = Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, zodOf(field)]));
      return strict ? z.strictObject(parts) : z.looseObject(parts, { error: 'expected object' });
    }
    default:
      return z.unknown();
  }
}
