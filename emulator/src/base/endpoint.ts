import type * as z from 'zod/mini';

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
