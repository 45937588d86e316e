import type { core, ZodMiniObject, ZodMiniType } from 'zod/mini';
import * as z from 'zod/mini';

/** A whole number that JavaScript represents exactly. */
export const integer = /* @__PURE__ */ z.int();

/** A count: a whole number of at least 0. */
export const count = /* @__PURE__ */ z.int().check(/* @__PURE__ */ z.minimum(0));

/** The most characters of an id, a name or a model. */
const MAX_NAME = 1_024;

/** At least one character or item. (`z.minLength` and `z.maxLength` do more, and cost a page 0.2 KB.) */
export const notEmpty = /* @__PURE__ */ z.refine<string | readonly unknown[]>(
  ({ length }) => length > 0,
  'must not be empty',
);

/** A non-empty text of at most 1,024 characters: an id, a name, a model. */
export const requiredText = /* @__PURE__ */ z.string().check(
  notEmpty,
  /* @__PURE__ */ z.refine<string>(({ length }) => length <= MAX_NAME, `must not be longer than ${MAX_NAME}`),
);

const TIMESTAMP = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

/** ISO 8601, with or without an offset. */
export const timestamp = /* @__PURE__ */ z
  .string()
  .check(/* @__PURE__ */ z.regex(TIMESTAMP, { error: 'expected an ISO 8601 time' }));

/** Keys that are text of a conversation. No issue contains such a key. */
export const conversationText = /* @__PURE__ */ z.string();

/** A closed list that a service may extend: editors offer the known values, and any other string is valid. */
/* @__NO_SIDE_EFFECTS__ */
export function openEnum<const Known extends string>(): ZodMiniType<Known | (string & {})> {
  return z.string() as ZodMiniType<Known | (string & {})>; // the known values are for editors only
}

/** An object from the service. Keeps fields that a newer service adds, which the types do not show. */
/* @__NO_SIDE_EFFECTS__ */
export function wireObject<Shape extends core.$ZodShape>(shape: Shape): ZodMiniObject<Shape, core.$strip> {
  return z.looseObject(shape) as unknown as ZodMiniObject<Shape, core.$strip>; // types only, see above
}

/** An object whose keys are names or ids. (`z.record` does more, and costs a page half a kilobyte.) */
/* @__NO_SIDE_EFFECTS__ */
export function mapOf<Value>(value: ZodMiniType<Value>): ZodMiniType<Record<string, Value>> {
  return z.catchall(z.object({}), value);
}

/** Whether two types are identical, not only assignable. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/**
 * Proves at compile time that a schema matches the published interface exactly:
 * `exact<UsageReport>()(wireObject({ … }))`.
 * Interfaces keep hover texts and declaration files short; this check keeps them correct.
 */
/* @__NO_SIDE_EFFECTS__ */
export function exact<T>() {
  return <S extends ZodMiniType>(proven: S & (Equal<core.output<S>, T> extends true ? unknown : never)) =>
    proven as unknown as ZodMiniType<T>; // proven equal by the parameter's type
}
