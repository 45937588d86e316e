import * as z from 'zod/mini';

/** A body: a schema alone is JSON, any other media type is named. */
export type BodyForm = z.ZodMiniType | Readonly<Record<string, z.ZodMiniType>>;

/** What an endpoint takes and answers. The OpenAPI description is made of these. */
interface EndpointForm {
  /** Its name for programs that are generated from the description. */
  id: string;
  summary: string;
  /** An object of the query's parameters. */
  query?: z.ZodMiniType | undefined;
  body?: BodyForm | undefined;
  /** Answers without a key or a token. */
  isOpen?: boolean | undefined;
  /** By status. What is not here is an error in the form of the area. */
  answers: Readonly<Record<number, BodyForm>>;
}

/** An endpoint: its form, and the function that answers. */
export interface Endpoint<Handle> extends EndpointForm {
  handle: Handle;
}

/** The form of an endpoint, and where it is. */
export interface DescribedEndpoint extends EndpointForm {
  method: string;
  /** Parameters as `:name`. */
  path: string;
}

/** Names and descriptions of schemas, for the OpenAPI description. */
export const descriptions = z.registry<{ id?: string; description?: string }>();

/** The schema, under a name in the OpenAPI description. */
export function named<Schema extends z.ZodMiniType>(id: string, schema: Schema): Schema {
  return noted(schema, { id });
}

/** The schema, with a sentence about it in the OpenAPI description. */
export function described<Schema extends z.ZodMiniType>(description: string, schema: Schema): Schema {
  return noted(schema, { description });
}

/** A copy: the schema may be part of others that the note is not for. */
function noted<Schema extends z.ZodMiniType>(schema: Schema, note: { id?: string; description?: string }): Schema {
  const copy = schema.check();
  descriptions.add(copy, { ...descriptions.get(schema), ...note });
  return copy;
}
