import * as z from 'zod/mini';

/** Equal in every detail, not only assignable. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/**
 * Proves at compile time that a schema gives exactly the interface we publish: `exact<UsageReport>()(schema)`.
 * Interfaces keep hover texts and declaration files short; this keeps them true.
 */
export function exact<T>() {
  return <S extends z.ZodMiniType>(
    schema: S & (Equal<z.output<S>, T> extends true ? unknown : never),
  ): z.ZodMiniType<T> =>
    // The two types are equal, as the parameter's type has just proven.
    schema as unknown as z.ZodMiniType<T>;
}

/** An answer's object: unknown fields survive at run time and stay out of the types. */
export function wireObject<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodMiniObject<Shape, z.core.$strip> {
  // Only the static view differs: both are object schemas of the same shape.
  return z.looseObject(shape) as unknown as z.ZodMiniObject<Shape, z.core.$strip>;
}

/** A closed list that a service may extend: known values are offered by editors, others are strings all the same. */
export function openEnum<const Known extends string>(): z.ZodMiniType<Known | (string & {})> {
  return z.string() as unknown as z.ZodMiniType<Known | (string & {})>;
}

/** A text the caller must give: an id, a name, a model. */
export const requiredText = z.string().check(z.minLength(1), z.maxLength(1_024));

/** A count: whole, not negative, and exact as a JavaScript number. */
export const countSchema = z.int().check(z.minimum(0));

const TIMESTAMP = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

/** ISO 8601, with or without an offset. */
export const timestampSchema = z.string().check(z.regex(TIMESTAMP, { error: 'expected an ISO 8601 time' }));

/** Texts under names that are the user's own words: an issue's path repeats none of them. */
export const textsSchema = z.record(z.string(), z.unknown()).check(
  z.refine((texts) => Object.values(texts).every((text) => typeof text === 'string'), {
    error: 'expected strings only',
  }),
  // The check above has seen that every value is a string.
) as unknown as z.ZodMiniType<Record<string, string>>;

/** Accepts everything. */
export const anySchema = z.unknown();

const queryValue = z.union([z.string(), z.number(), z.boolean()], {
  error: 'expected a string, a number or a boolean',
});

/** A request to an endpoint without a method of its own. */
export const rawRequestSchema = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  query: z.optional(z.record(z.string(), z.optional(queryValue))),
  body: z.optional(z.unknown()),
});
