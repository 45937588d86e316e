import * as z from 'zod/mini';

type Schema = Readonly<Record<string, unknown>>;

/** What the newest user message has for arguments, and the schema that they are for. */
interface Source {
  /** Quotes, names, and words with digits, with the word before each. Each is used once. */
  texts: { text: string; after?: string | undefined }[];
  numbers: number[];
  /** The rest of the sentence after its first preposition, or else its words that the tool does not have. */
  rest: string;
  words: readonly string[];
  root: unknown;
  /** How many values may still be made: a schema may refer to itself. */
  left: number;
}

/**
 * Arguments that match the JSON Schema of a tool: what the message has, or else defaults and examples. Optional ones only if the message
 * has one of their values. It reads no `pattern`. `isNew` says whether a word carries meaning and is not one of the tool's name.
 */
export function argumentsFor(schema: unknown, text: string, isNew: (word: string) => boolean): unknown {
  const raw = text.match(/\S+/g) ?? [];
  const words = raw.map((word) => /-?[\p{L}\p{N}]+(?:[^\p{L}\p{N}]+[\p{L}\p{N}]+)*/u.exec(word)?.[0] ?? '');
  const [, afterPreposition] = PREPOSITION.exec(text) ?? [];
  const source = {
    texts: [...[...text.matchAll(QUOTE)].map(([, quote = '']) => ({ text: quote })), ...namesIn(raw, words, isNew)],
    numbers: words.filter((word) => /^-?\d+(?:\.\d+)?$/.test(word)).map(Number),
    rest: afterPreposition?.trim() || words.filter(isNew).join(' ') || text.trim(),
    words,
    root: schema,
    left: MOST_VALUES,
  };
  return objectFor(resolved(schema, schema), source);
}

/** Words with a capital inside a sentence, joined where they follow each other, then words with digits. */
function namesIn(raw: readonly string[], words: readonly string[], isNew: (word: string) => boolean): Source['texts'] {
  const names: Source['texts'] = [];
  const codes: Source['texts'] = [];
  for (const [i, word] of words.entries()) {
    const before = raw[i - 1] ?? '.';
    const isName = /^\p{Lu}[\p{L}\p{N}'’-]+$/u.test(word) && !/[.!?:]["'”’)]*$/.test(before) && isNew(word);
    const last = names.at(-1);
    if (isName && before === words[i - 1] && last?.text.endsWith(before)) last.text += ` ${word}`;
    else if (isName || /\d/.test(word))
      (isName ? names : codes).push({ text: word, after: words[i - 1]?.toLowerCase() });
  }
  return [...names, ...codes];
}

function objectFor({ properties, required }: Schema, source: Source): Record<string, unknown> {
  const isWanted = ([name, inner]: [string, unknown]): boolean =>
    !Array.isArray(required) ||
    required.includes(name) ||
    valueSaid(resolved(inner, source.root), source) !== undefined;
  const wanted = Object.entries(Object(properties)).filter(isWanted);
  return Object.fromEntries(wanted.map(([name, inner]) => [name, valueFor(inner, name, source)]));
}

function valueFor(given: unknown, name: string, source: Source): unknown {
  source.left -= 1;
  if (source.left < 0) return null;
  const schema = resolved(given, source.root);
  const { const: constant, enum: values, default: usual } = schema;
  if (constant !== undefined) return constant;
  if (Array.isArray(values)) return valueSaid(schema, source) ?? usual ?? values[0];
  const type = [schema.type].flat().find((one) => one !== 'null') ?? (schema.properties ? 'object' : 'string');
  if (type === 'object') return objectFor(schema, source);
  if (type === 'array') return listFor(schema, name, source);
  if (type === 'number' || type === 'integer') return numberFor(schema, type === 'integer', source);
  if (type === 'boolean') return usual ?? true;
  return schema.type === 'null' ? null : textFor(schema, name, source);
}

/** The value of an enum that the message has. */
function valueSaid({ enum: values }: Schema, { words }: Source): unknown {
  const spaced = (text: string): string => ` ${text.toLowerCase().replace(/[_\s-]+/g, ' ')} `;
  const said = spaced(words.join(' '));
  return Array.isArray(values) ? values.find((one) => said.includes(spaced(String(one)))) : undefined;
}

/** All numbers of the message, or else as many values as there must be, at least one. */
function listFor({ items, minItems, maxItems }: Schema, name: string, source: Source): unknown[] {
  const isNumeric = /^(?:number|integer)$/.test(String(resolved(items, source.root).type));
  const wanted = Math.max(1, numberIn(minItems) ?? 1, isNumeric ? source.numbers.length : 1);
  const length = Math.min(wanted, numberIn(maxItems) ?? wanted, MOST_VALUES);
  return Array.from({ length }, () => valueFor(items, name, source));
}

function numberFor(schema: Schema, isInteger: boolean, { numbers }: Source): unknown {
  const [above, below, step = isInteger ? 1 : 0] = ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map((name) =>
    numberIn(schema[name]),
  );
  const low = numberIn(schema.minimum) ?? above ?? Number.NEGATIVE_INFINITY;
  const high = numberIn(schema.maximum) ?? below ?? Number.POSITIVE_INFINITY;
  const fits = (value = Number.NaN): boolean =>
    value >= low && value <= high && value !== above && value !== below && (step === 0 || value % step === 0);
  const at = numbers.findIndex(fits);
  if (at !== -1) return numbers.splice(at, 1)[0];
  const next = step === 0 ? low + 1 : (Math.floor(low / step) + 1) * step;
  return [numberIn(schema.default), 1, step, low, next, (low + high) / 2, high, high - 1].find(fits) ?? 1;
}

function textFor(schema: Schema, name: string, { texts, words, rest }: Source): unknown {
  const [format, example] = FORMATS.get(schema.format) ?? [z.string(), name];
  const [least = 0, most = LONGEST] = [schema.minLength, schema.maxLength].map(numberIn);
  const fits = (text: string): boolean =>
    text.length >= least && text.length <= most && z.safeParse(format, text).success;
  const keys = name.split(/_|(?<=[a-z\d])(?=[A-Z])/).map((part) => part.toLowerCase());
  const fitting = texts.filter(({ text }) => fits(text));
  const best = fitting.find(({ after = '' }) => keys.includes(after)) ?? fitting[0];
  if (best !== undefined) return texts.splice(texts.indexOf(best), 1)[0]?.text;
  const other = schema.default ?? [...(schema.format === undefined ? [] : words), rest, example].find(fits);
  return other ?? rest.padEnd(Math.min(least, LONGEST), 'x').slice(0, most);
}

/** A schema without references and alternatives: with the first that is not null. */
function resolved(given: unknown, root: unknown): Schema {
  let schema: Record<string, unknown> = Object(given);
  for (let step = 0; step < MOST_REFERENCES; step += 1) {
    const { $ref, anyOf, oneOf, allOf, ...rest } = schema;
    const options = anyOf ?? oneOf ?? allOf;
    if (typeof $ref === 'string') schema = { ...Object(at(root, $ref)), ...rest };
    else if (!Array.isArray(options)) break;
    else schema = { ...Object(options.find((one) => Object(one).type !== 'null')), ...rest };
  }
  return schema;
}

/** What a reference such as `#/$defs/City` is. */
function at(root: unknown, reference: string): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce((value: unknown, name) => (Object.hasOwn(Object(value), name) ? Object(value)[name] : {}), root);
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

const QUOTE = /["“`]([^"“”`]{1,200})["”`]/g;
const PREPOSITION = /\b(?:about|at|for|from|in|near|of|on|to|with)\s+([^.?!\n]+)/i;
const LONGEST = 2_000;
const MOST_VALUES = 1_000;
const MOST_REFERENCES = 8;
/** The formats of texts, each with an example. */
const FORMATS = new Map<unknown, readonly [z.ZodMiniType, string]>([
  ['date', [z.iso.date(), '2026-01-15']],
  ['date-time', [z.iso.datetime(), '2026-01-15T10:00:00Z']],
  ['time', [z.iso.time(), '10:00:00']],
  ['email', [z.email(), 'ana@example.com']],
  ['uri', [z.url(), 'https://example.com']],
  ['uuid', [z.uuid(), '1b4e28ba-2fa1-4d2b-883f-0016d3cca427']],
]);
