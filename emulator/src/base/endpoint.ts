import * as z from 'zod/mini';

/** The schema of a JSON body, or schemas by media type. */
export type BodyForm = z.ZodMiniType | Readonly<Record<string, z.ZodMiniType>>;

/** The parameters and responses of an endpoint. The OpenAPI description is generated from these. */
interface EndpointForm {
  /** The `operationId` in the OpenAPI description. */
  id: string;
  summary: string;
  /** An object schema with one field per query parameter. */
  query?: z.ZodMiniType | undefined;
  body?: BodyForm | undefined;
  /** Needs no key or token. */
  isOpen?: boolean | undefined;
  /** Response bodies by status. All other statuses have the error body of the area. */
  responses: Readonly<Record<number, BodyForm>>;
}

/** An endpoint with its handler. */
export interface Endpoint<Handle> extends EndpointForm {
  handle: Handle;
}

/** An endpoint with its method and path, without its handler. */
export interface DescribedEndpoint extends EndpointForm {
  method: string;
  /** Parameters as `:name`. */
  path: string;
}

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
