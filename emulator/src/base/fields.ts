import * as z from 'zod/mini';

/** Names and descriptions of schemas, for the OpenAPI description. */
export const descriptions = z.registry<{ id?: string; description?: string }>();

/** Names a schema in the OpenAPI description. */
export function named<Schema extends z.ZodMiniType>(id: string, schema: Schema): Schema {
  return annotated(schema, { id });
}

/** An object with a name in the OpenAPI description. */
export function namedObject<Shape extends z.core.$ZodShape>(id: string, shape: Shape) {
  return named(id, z.object(shape));
}

/** Describes a schema in the OpenAPI description. */
export function described<Schema extends z.ZodMiniType>(description: string, schema: Schema): Schema {
  return annotated(schema, { description });
}

/** Annotates a copy, because other schemas may contain the original. */
function annotated<Schema extends z.ZodMiniType>(schema: Schema, note: { id?: string; description?: string }): Schema {
  const copy = schema.check();
  descriptions.add(copy, { ...descriptions.get(schema), ...note });
  return copy;
}

/**
 * What a mask keeps of a value: of a text that names or classifies something, all of it, and of the others what has a form.
 * Of a text without a mark, letters and digits are hidden.
 */
export type Mark = 'name' | 'path' | 'media' | 'template' | 'content' | 'headers' | 'expression' | 'json';

/** What schemas are marked as. */
export const marks = z.registry<{ mark: Mark }>();
/** The schemas that masks have in place of others. */
export const maskForms = new WeakMap<z.core.$ZodType, z.ZodMiniType>();

/** Marks a schema for masks. */
export function marked<Schema extends z.ZodMiniType>(mark: Mark, schema: Schema): Schema {
  const copy = schema.check();
  marks.add(copy, { mark });
  return copy;
}

/** Has masks take a value for one of `form`, although it may have another form: that is not checked. */
export function maskedAs<Schema extends z.ZodMiniType>(form: z.ZodMiniType, schema: Schema): Schema {
  const copy = schema.check();
  maskForms.set(copy, form);
  return copy;
}

/** What an import may have in any form, or not at all, because former versions did not check it. */
export function unchecked<T>(form: z.ZodMiniType<T>): z.ZodMiniType<T> {
  return z.optional(maskedAs(form, z.any()));
}

/** Whether two types are identical, not only assignable. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/**
 * Proves that a schema has the form of an interface: `exact<Plan>()(z.object({ … }))`. Interfaces have the texts that editors show,
 * and keep declaration files short.
 */
export function exact<T>() {
  return <Schema extends z.ZodMiniType>(
    proven: Schema & (Equal<z.output<Schema>, T> extends true ? unknown : never),
  ): Schema => proven;
}

/** A non-empty string. */
export const text = z.string().check(z.minLength(1));
/** A non-negative integer. */
export const count = z.int().check(z.gte(0));
/** A text that names or classifies something, and so stays in a masked export. */
export const label = marked('name', z.string());
/** The same, and not empty. */
export const id = marked('name', text);
/** A time. */
export const time = described('ISO 8601', label);
/** A time that the emulator reads. */
export const readTime = time.check(z.refine((given) => !Number.isNaN(Date.parse(given)), 'not a time'));
