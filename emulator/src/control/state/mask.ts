import * as z from 'zod/mini';
import { openCompletionBody } from '../../api/completion-request.js';
import { contextError, gatewayError } from '../../base/errors.js';
import { type Mark, marks, maskForms } from '../../base/fields.js';
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
  maskedNames,
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
  readonly #name = maskedNames();
  readonly #ofTexts: Marked<string> = {
    name: this.#name,
    path: maskedPath,
    media: maskedMedia,
    template: maskedTemplate,
    content: maskedContent,
  };

  constructor({ context, gateway }: Pick<EmulatorParts, 'context' | 'gateway'>) {
    const endpoints = [...context.endpoints, ...gateway.endpoints];
    const forms = endpoints.flatMap(({ body = {}, responses }) => [body, ...Object.values(responses)]);
    const schemas = forms.flatMap((form) => ('_zod' in form ? [form as z.ZodMiniType] : Object.values(form)));
    this.#bodies = [...schemas, contextError, gatewayError, ...UNDOCUMENTED];
  }

  /** A value of this schema. */
  value<T>(value: T, schema: z.ZodMiniType): T {
    // `#value` returns what it was given, with other texts in it.
    return this.#value(value, [schema]) as T;
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
    // The keys depend on the seed, and stored responses have replies in them.
    return { ...this.value(state, stateSchema), seed: state.seed, idempotency: [] };
  }

  /** `field` is the one that it stands in. */
  #value(value: unknown, schemas: readonly Schema[], field = ''): unknown {
    const forms = schemas.flatMap((schema) => formsOf(schema, value));
    const given = forms.map(markOf);
    if (given.includes('json')) return typeof value === 'string' ? this.#body(value) : this.#value(value, this.#bodies);
    if (typeof value === 'string') return maskOf(this.#ofTexts, given, masked)(value);
    if (Array.isArray(value)) return value.map((item, i) => this.#value(item, innerOf(forms, String(i)), field));
    if (typeof value !== 'object' || value === null) return value;
    // The terms that people define are keys.
    const isFree = field === 'definitions' || forms.some(hasFreeKeys);
    return maskOf(OF_OBJECTS, given, (fields) => this.#fields(fields, forms, isFree))(value);
  }

  #fields(fields: object, forms: readonly Schema[], isFree: boolean): object {
    const numbered = distinctNames();
    const safe = Object.entries(fields).map(([name, inner]) => [
      isFree ? numbered(masked(name)) : this.#name(name),
      this.#value(inner, innerOf(forms, name), name),
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

/** What a schema says of a value: of a union, the schemas that it fits, or all if it fits none. */
function formsOf(schema: Schema, value: unknown): Schema[] {
  const form = maskForms.get(schema);
  if (form !== undefined) return formsOf(form, value);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'optional' || def.type === 'nullable') return formsOf(def.innerType, value);
  if (def.type !== 'union') return [schema];
  const fitting = def.options.filter((option) => z.safeParse(option, value).success);
  return (fitting.length > 0 ? fitting : def.options).flatMap((option) => formsOf(option, value));
}

/** The schemas of a field, or of an item of a list. */
function innerOf(forms: readonly Schema[], name: string): Schema[] {
  return forms.flatMap((form) => {
    const { def } = (form as z.core.$ZodTypes)._zod;
    if (def.type === 'array') return def.element;
    if (def.type === 'record') return def.valueType;
    if (def.type === 'tuple') return def.items[Number(name)] ?? [];
    return def.type === 'object' && Object.hasOwn(def.shape, name) ? (def.shape[name] as Schema) : [];
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
