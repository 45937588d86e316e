import * as z from 'zod/mini';
import { openCompletionBody } from '../../api/completion-request.js';
import { contextError, gatewayError } from '../../base/errors.js';
import { type Mark, marks } from '../../base/fields.js';
import { type RequestRecord, requestRecord } from '../../http/log/request-record.js';
import { toolCallPieceSchema } from '../../upstream/tool-calls.js';
import type { EmulatorParts } from '../parts.js';
import {
  distinctNames,
  masked,
  maskedContent,
  maskedExpression,
  maskedHeaders,
  maskedMedia,
  maskedName,
  maskedPath,
  maskedTemplate,
  withoutQuotes,
} from './masked-texts.js';
import { type EmulatorState, stateSchema } from './state-schema.js';

type Schema = z.core.$ZodType;

/** Hides what people wrote: each text that no schema describes, or that its schema does not mark. */
export class Mask {
  /** What a body of the two APIs may be. */
  readonly #bodies: readonly Schema[];

  constructor({ context, gateway }: Pick<EmulatorParts, 'context' | 'gateway'>) {
    const endpoints = [...context.endpoints, ...gateway.endpoints];
    const forms = endpoints.flatMap(({ body = {}, responses }) => [body, ...Object.values(responses)]);
    const schemas = forms.flatMap((form) => ('_zod' in form ? [form as z.ZodMiniType] : Object.values(form)));
    this.#bodies = [...schemas, contextError, gatewayError, ...UNDOCUMENTED].flatMap(variantsOf);
  }

  /** A value of this schema. */
  value<T>(value: T, schema: z.ZodMiniType): T {
    // `#value` returns what it was given, with other texts in it.
    return this.#value(value, variantsOf(schema)) as T;
  }

  /** A request of the log. Of the emulator's own errors, the messages stay. */
  request(record: RequestRecord): RequestRecord {
    const safe = this.value(record, requestRecord);
    const isOwn = record.faultResponse === undefined;
    const isError = isOwn && (record.status ?? 0) >= 400;
    const { response } = record;
    return {
      ...safe,
      isBodyExact: false,
      response: response && {
        ...response,
        ...safe.response,
        body: this.#body(response.body, isError),
        events: response.events?.map(({ at, text }) => ({ at, text: this.#body(text, isOwn) })),
      },
    };
  }

  /** A snapshot. Ids, roles, times, names of models and keys stay. */
  state(state: EmulatorState): EmulatorState {
    const safe = this.value(state, stateSchema);
    const conversations = distinct(safe.conversations).map((one) => ({ ...one, messages: distinct(one.messages) }));
    // The keys depend on the seed, and stored responses have replies in them.
    return { ...safe, seed: state.seed, conversations, idempotency: [] };
  }

  #value(value: unknown, schemas: readonly Schema[]): unknown {
    const given = schemas.map(markOf);
    if (given.includes('json')) return typeof value === 'string' ? this.#body(value) : this.#value(value, this.#bodies);
    if (typeof value === 'string') return maskOf(OF_TEXTS, given, masked)(value);
    if (Array.isArray(value)) return value.map((item, i) => this.#value(item, innerOf(schemas, String(i))));
    if (typeof value !== 'object' || value === null) return value;
    return maskOf(OF_OBJECTS, given, (fields) => this.#fields(fields, schemas))(value);
  }

  #fields(fields: object, schemas: readonly Schema[]): object {
    const numbered = distinctNames();
    const maskedKey = schemas.some(hasFreeKeys) ? masked : maskedName;
    const safe = Object.entries(fields).map(([name, inner]) => [
      numbered(maskedKey(name)),
      this.#value(inner, innerOf(schemas, name)),
    ]);
    return Object.fromEntries(safe);
  }

  /** JSON, or server-sent events of JSON; any other text is masked whole. */
  #body(body: string, keepsMessage = false): string {
    if (!/^(?:data)?:/.test(body)) return this.#json(body, keepsMessage);
    return body.replace(/^.+$/gm, (line) => {
      const [, data] = /^data: ?(.*)$/.exec(line) ?? [];
      if (data === '[DONE]') return line;
      return data === undefined ? masked(line) : `data: ${this.#json(data, keepsMessage)}`;
    });
  }

  #json(text: string, keepsMessage: boolean): string {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return masked(text);
    }
    const safe = this.#value(value, this.#bodies);
    return JSON.stringify(keepsMessage ? withMessage(safe, value) : safe);
  }
}

const toolCalls = z.object({ tool_calls: z.array(toolCallPieceSchema) });
/** What bodies have that the API does not document. */
const UNDOCUMENTED = [
  openCompletionBody,
  z.object({ choices: z.array(z.object({ message: toolCalls, delta: toolCalls })) }),
];

const OF_TEXTS: Marked<string> = {
  name: maskedName,
  path: maskedPath,
  media: maskedMedia,
  template: maskedTemplate,
  content: maskedContent,
};
const OF_OBJECTS: Marked<object> = {
  headers: (headers) => maskedHeaders(headers as Record<string, unknown>),
  expression: (expression) => maskedExpression(expression as Parameters<typeof maskedExpression>[0]),
};

type Marked<T> = Partial<Record<Mark, (value: T) => T>>;

/** What the first of the marks does. A place may have several schemas: those of a union. */
function maskOf<T>(masks: Marked<T>, given: readonly (Mark | undefined)[], otherwise: (value: T) => T) {
  const mark = given.find((one) => one !== undefined && masks[one] !== undefined);
  return (mark && masks[mark]) ?? otherwise;
}

/** A value of a list, such as a role, classifies something. */
function markOf(schema: Schema): Mark | undefined {
  const { type } = schema._zod.def;
  return marks.get(schema)?.mark ?? (type === 'enum' || type === 'literal' ? 'name' : undefined);
}

/** The schemas of a union, and what may be absent, without that. */
function variantsOf(schema: Schema): Schema[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'optional' || def.type === 'nullable') return variantsOf(def.innerType);
  return def.type === 'union' ? def.options.flatMap(variantsOf) : [schema];
}

/** The schemas of a field, or of an item of a list. */
function innerOf(schemas: readonly Schema[], name: string): Schema[] {
  return schemas.flatMap((schema) => {
    const { def } = (schema as z.core.$ZodTypes)._zod;
    if (def.type === 'array') return variantsOf(def.element);
    if (def.type === 'record') return variantsOf(def.valueType);
    if (def.type === 'tuple') return (def.items as Schema[]).slice(Number(name), Number(name) + 1);
    if (def.type !== 'object' || !Object.hasOwn(def.shape, name)) return [];
    return variantsOf(def.shape[name] as Schema);
  });
}

/** Whether the names of fields are texts that people write. */
function hasFreeKeys(schema: Schema): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  return def.type === 'record' && markOf(def.keyType) === undefined;
}

/** Of an error, the message is what a case is about. */
function withMessage(safe: unknown, given: unknown): unknown {
  const { error } = Object(given) as { error?: unknown };
  if (typeof error === 'string') return { ...Object(safe), error: withoutQuotes(error) };
  const { message } = Object(error) as { message?: unknown };
  if (typeof message !== 'string') return safe;
  return { ...Object(safe), error: { ...Object(safe).error, message: withoutQuotes(message) } };
}

/** Records whose ids are still distinct after they were masked. */
function distinct<T extends { id: string }>(records: readonly T[]): T[] {
  const numbered = distinctNames();
  return records.map((record) => ({ ...record, id: numbered(record.id) }));
}
