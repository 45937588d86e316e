import * as z from 'zod/mini';
import type { BodyForm, DescribedEndpoint } from '../base/endpoint.js';
import { contextError, gatewayError } from '../base/errors.js';
import { descriptions, namedObject } from '../base/fields.js';

/** A JSON Schema. */
type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The endpoints of one area. */
export interface DescribedArea {
  endpoints: readonly DescribedEndpoint[];
  name: 'Context API' | 'Gateway API' | 'Control plane';
}

/** An operation of the description. */
export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: { name: string; in: 'path' | 'query'; required: boolean; schema: JsonSchema; description?: string }[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; headers?: typeof RATE_HEADERS; content: Content }>;
}

type Content = Record<string, { schema: JsonSchema }>;

/** The used subset of OpenAPI 3.1. */
export interface OpenApi {
  openapi: '3.1.1';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  /** By path and method. */
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    headers: Record<string, { description: string; schema: JsonSchema }>;
    securitySchemes: Record<string, object>;
  };
}

/** Further inputs of the description. */
export interface DescriptionSettings {
  version: string;
  sessionHeader: { name: string; scheme: string };
  /** Whether the control plane requires a token. */
  hasControlToken: boolean;
}

/** Generates the OpenAPI description from the schemas of the endpoints. */
export function openApi(areas: readonly DescribedArea[], settings: DescriptionSettings): OpenApi {
  const schemas: Record<string, JsonSchema> = {};
  const paths: OpenApi['paths'] = {};
  for (const area of areas) {
    for (const endpoint of area.endpoints) {
      const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
      paths[path] ??= {};
      // Set in the line above.
      (paths[path] as Record<string, Operation>)[endpoint.method.toLowerCase()] = operation(
        endpoint,
        area,
        schemas,
        settings,
      );
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'context-gateway-emulator',
      version: settings.version,
      description: 'The context and gateway service, and the control plane of its emulator.',
    },
    servers: [{ url: '/' }],
    tags: areas.map(({ name }) => ({ name, description: AREAS[name].description })),
    paths,
    components: { schemas: sorted(schemas), headers: HEADERS, securitySchemes: securitySchemes(settings) },
  };
}

const controlError = namedObject('ControlError', { error: z.string() });

const AREAS = {
  'Context API': {
    description: 'Conversation context and user memory.',
    error: contextError,
    security: 'sessionToken',
  },
  'Gateway API': {
    description: 'Completions, presets, files, integrations, usage.',
    error: gatewayError,
    security: 'apiKey',
  },
  'Control plane': {
    description: 'Endpoints of the emulator itself, for operations that the service has no endpoint for.',
    error: controlError,
    security: 'controlToken',
  },
} as const;

const whole: JsonSchema = { type: 'integer', minimum: 0 };
const HEADERS = {
  'X-RateLimit-Limit': { description: 'Requests allowed in a window.', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests left in the current window.', schema: whole },
  'X-RateLimit-Reset': { description: 'When the current window ends.', schema: whole },
};
/** Headers of every Gateway response. */
const RATE_HEADERS = Object.fromEntries(
  Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

function operation(
  endpoint: DescribedEndpoint,
  area: DescribedArea,
  schemas: Record<string, JsonSchema>,
  { hasControlToken }: DescriptionSettings,
): Operation {
  const { id, summary, path, query, body, responses: forms } = endpoint;
  const { error, security } = AREAS[area.name];
  const toJson = (schema: z.ZodMiniType): JsonSchema => jsonSchema(schema, schemas);
  const parameters = [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name = '']) => pathParameter(name)),
    ...(query === undefined ? [] : queryParameters(toJson(query))),
  ];
  const isOpen = security === 'controlToken' && !hasControlToken;
  const headers = area.name === 'Gateway API' ? { headers: RATE_HEADERS } : {};
  const responses = Object.entries(forms).map(([status, form]) => [
    status,
    { description: summary, ...headers, content: content(form, toJson) },
  ]);
  return {
    operationId: id,
    summary,
    tags: [area.name],
    security: isOpen || endpoint.isOpen ? [] : [{ [security]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: !isOptional(body, area), content: content(body, toJson) } }),
    responses: {
      ...Object.fromEntries(responses),
      default: { description: 'The request was rejected.', ...headers, content: content(error, toJson) },
    },
  };
}

/** The control plane treats a missing body as `{}`. */
function isOptional(body: BodyForm, { name }: DescribedArea): boolean {
  return name === 'Control plane' && isSchema(body) && z.safeParse(body, {}).success;
}

function content(form: BodyForm, toJson: (schema: z.ZodMiniType) => JsonSchema): Content {
  const byType = isSchema(form) ? { 'application/json': form } : form;
  return Object.fromEntries(
    Object.entries(byType).map(([type, schema]) => {
      if (type !== 'text/event-stream') return [type, { schema: toJson(schema) }];
      // OpenAPI 3.1 cannot describe the events of a stream.
      const {
        id = 'JSON',
        description = `Server-sent events. The data of each event is a ${id}; the last is [DONE].`,
      } = descriptions.get(schema) ?? {};
      toJson(schema);
      return [type, { schema: { type: 'string', description } }];
    }),
  );
}

/** Distinguishes a schema from schemas by media type. */
function isSchema(form: BodyForm): form is z.ZodMiniType {
  return '_zod' in form;
}

/** Converts a schema to JSON Schema. Named schemas are added to `schemas` and referenced. */
function jsonSchema(schema: z.ZodMiniType, schemas: Record<string, JsonSchema>): JsonSchema {
  // Wrapped in an object, so that a named schema itself becomes a reference.
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: schema }), {
    metadata: descriptions,
    // For responses too: 'output' would forbid unknown fields, which a growing service may add.
    io: 'input',
    unrepresentable: 'any',
  });
  const text = JSON.stringify({ it: properties?.it, $defs }, withoutNoise).replaceAll(
    '"#/$defs/',
    '"#/components/schemas/',
  );
  const rewritten: { it: JsonSchema; $defs: Record<string, JsonSchema> } = JSON.parse(text);
  for (const [name, form] of Object.entries(rewritten.$defs)) {
    const other = schemas[name];
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(form))
      throw new Error(`Two schemas are named '${name}' in the OpenAPI description. Give one of them another name.`);
    schemas[name] = form;
  }
  return rewritten.it;
}

/** Removes the ids of schemas, which repeat their names, the bounds of JavaScript's safe integers, and `readonly` of TypeScript. */
function withoutNoise(key: string, value: unknown): unknown {
  if ((key === 'id' && typeof value === 'string') || key === 'readOnly') return undefined;
  const isBound = (key === 'minimum' || key === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
  return isBound ? undefined : value;
}

function pathParameter(name: string) {
  return { name, in: 'path' as const, required: true, schema: { type: 'string' as const, minLength: 1 } };
}

function queryParameters({ properties = {}, required = [] }: JsonSchema) {
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as JsonSchema;
    const parameter = { name, in: 'query' as const, required: required.includes(name), schema: rest };
    return description === undefined ? parameter : { ...parameter, description };
  });
}

function securitySchemes({
  sessionHeader: { name, scheme },
  hasControlToken,
}: DescriptionSettings): Record<string, object> {
  const bearer = { type: 'http', scheme: 'bearer' };
  const isBearer = name === 'authorization' && scheme.toLowerCase() === 'bearer';
  return {
    sessionToken: isBearer ? bearer : { type: 'apiKey', in: 'header', name },
    apiKey: bearer,
    ...(hasControlToken ? { controlToken: bearer } : {}),
  };
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
