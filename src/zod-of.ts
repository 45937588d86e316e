import * as z from 'zod/mini';
import type { AnySchema, Schema } from './transport/schema.js';
import { tooLarge, tooSmall, unknownFields, wrongForm, wrongKind } from './transport/wording.js';

/**
 * A description as a zod schema. A property test holds that the two accept and refuse the same values, in the same words: what
 * users check with is what the clients check with.
 */
/* @__NO_SIDE_EFFECTS__ */
export function zodOf<T>(schema: Schema<T>): z.ZodMiniType<T> {
  return written(schema) as z.ZodMiniType<T>; // T is what the description describes
}

function written(schema: AnySchema): z.ZodMiniType {
  const { kind, least, most, whole, pattern, values, absent, either, fields, keys: known, strict } = schema;
  const of = schema.of as AnySchema; // of the kinds that have one, and read for no other
  const error = ({ input }: { input?: unknown }) => wrongKind(schema, input);
  switch (kind) {
    case 'string': {
      const checks = [
        least > 0 && z.minLength(least, { error: tooSmall(schema) }),
        most < Number.POSITIVE_INFINITY && z.maxLength(most, { error: tooLarge(schema) }),
        pattern !== undefined && z.regex(pattern, { error: wrongForm(schema) }),
      ];
      return z.string({ error }).check(...checks.filter((check) => check !== false));
    }
    case 'number': {
      const checks = [
        least > Number.NEGATIVE_INFINITY && z.minimum(least, { error: tooSmall(schema) }),
        most < Number.POSITIVE_INFINITY && z.maximum(most, { error: tooLarge(schema) }),
      ];
      return (whole ? z.int({ error }) : z.number({ error })).check(...checks.filter((check) => check !== false));
    }
    case 'boolean':
      return z.boolean({ error });
    case 'literal':
      return z.literal(values as z.core.util.Literal[], { error });
    case 'absent':
      return absent === null ? z.nullable(zodOf(of)) : z.optional(zodOf(of));
    case 'array': {
      const list = z.array(zodOf(of), { error });
      return least > 0 ? list.check(z.minLength(least, { error: tooSmall(schema) })) : list;
    }
    case 'record':
      return z.record(z.string(), zodOf(of), { error });
    case 'union':
      return z.union(
        either.map((one) => zodOf(one)),
        { error },
      );
    case 'object': {
      const parts = Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, zodOf(field)]));
      if (!strict) return z.looseObject(parts, { error });
      return z.strictObject(parts, {
        error: ({ code, keys, input }) =>
          code === 'unrecognized_keys' ? unknownFields(keys as string[], known) : error({ input }),
      });
    }
    default:
      return z.unknown();
  }
}
