declare const OUTPUT: unique symbol;
declare const OPTIONAL: unique symbol;

/**
 * What a value of type `T` has to be, as data: the one description of an argument or an answer, in zod's words. The clients
 * check with it (`matches.ts`); `context-gateway/schemas` writes it as zod schemas. Why not zod at run time:
 * docs/decisions/schemas.md.
 */
export interface Schema<T> {
  readonly kind: Kind;
  /** Bounds of a number, of a string's characters, of an array's items. */
  readonly least: number;
  readonly most: number;
  /** Whether a number has to be a whole one that JavaScript holds exactly. */
  readonly whole: boolean;
  readonly pattern: RegExp | undefined;
  /** What people are told, where it is not what the parts say. */
  readonly expected: string | undefined;
  /** The values of a literal. */
  readonly values: readonly unknown[];
  /** What an array or a record holds; what an optional or nullable value is where it is not `absent`. */
  readonly of: AnySchema | undefined;
  readonly absent: null | undefined;
  /** The forms of a union. */
  readonly either: readonly AnySchema[];
  readonly fields: Fields;
  readonly keys: readonly string[];
  /** Whether an object may have no fields but these. */
  readonly strict: boolean;
  /** For the compiler alone. */
  readonly [OUTPUT]?: T;
}

type Kind =
  | ('unknown' | 'string' | 'number' | 'boolean' | 'literal')
  | ('array' | 'record' | 'object' | 'absent' | 'union');

export type AnySchema = Schema<unknown>;
export type OutputOf<S> = S extends Schema<infer T> ? T : never;

/** Of a field that may be left out. */
interface OptionalSchema<T> extends Schema<T | undefined> {
  readonly [OPTIONAL]: true;
}

type Fields = Readonly<Record<string, AnySchema>>;
type OptionalKeys<F> = { [Key in keyof F]: F[Key] extends { readonly [OPTIONAL]: true } ? Key : never }[keyof F];
type Flat<T> = { [Key in keyof T]: T[Key] };
type ObjectOf<F> = Flat<
  { -readonly [Key in Exclude<keyof F, OptionalKeys<F>>]: OutputOf<F[Key]> } & {
    -readonly [Key in OptionalKeys<F>]?: OutputOf<F[Key]>;
  }
>;

/** Every schema has every part: objects of one form are read several times faster than those of ten. */
const PLAIN: AnySchema = {
  kind: 'unknown',
  least: Number.NEGATIVE_INFINITY,
  most: Number.POSITIVE_INFINITY,
  whole: false,
  pattern: undefined,
  expected: undefined,
  values: [],
  of: undefined,
  absent: undefined,
  either: [],
  fields: {},
  keys: [],
  strict: false,
};

/* @__NO_SIDE_EFFECTS__ */
function schema<T>(kind: Kind, parts?: Partial<AnySchema>): Schema<T> {
  return { ...PLAIN, kind, ...parts } as Schema<T>; // the type is the caller's to say: it is nothing but a name
}

type Bounds = Partial<Pick<AnySchema, 'least' | 'most'>>;
type Format = Partial<Pick<AnySchema, 'pattern' | 'expected'>>;

/* @__NO_SIDE_EFFECTS__ */
export function unknown(): Schema<unknown> {
  return schema('unknown');
}

/* @__NO_SIDE_EFFECTS__ */
export function string(parts?: Bounds & Format): Schema<string> {
  return schema('string', parts);
}

/** A closed list that a service may extend: known values are offered by editors, others are strings all the same. */
/* @__NO_SIDE_EFFECTS__ */
export function openEnum<const Known extends string>(): Schema<Known | (string & {})> {
  return schema('string');
}

/* @__NO_SIDE_EFFECTS__ */
export function number(bounds?: Bounds): Schema<number> {
  return schema('number', bounds);
}

/* @__NO_SIDE_EFFECTS__ */
export function integer(bounds?: Bounds): Schema<number> {
  return schema('number', { whole: true, ...bounds });
}

/* @__NO_SIDE_EFFECTS__ */
export function boolean(): Schema<boolean> {
  return schema('boolean');
}

/* @__NO_SIDE_EFFECTS__ */
export function literal<const T extends readonly unknown[]>(...values: T): Schema<T[number]> {
  return schema('literal', { values });
}

/* @__NO_SIDE_EFFECTS__ */
export function array<T>(of: Schema<T>, bounds?: Bounds): Schema<T[]> {
  return schema('array', { of, ...bounds });
}

/* @__NO_SIDE_EFFECTS__ */
export function record<T>(of: Schema<T>): Schema<Record<string, T>> {
  return schema('record', { of });
}

/** Texts under names that are the user's own words: an issue repeats none of them. */
/* @__NO_SIDE_EFFECTS__ */
export function texts(): Schema<Record<string, string>> {
  return schema('record', { of: string(), expected: 'strings only' });
}

/* @__NO_SIDE_EFFECTS__ */
export function optional<T>(of: Schema<T>): OptionalSchema<T> {
  return schema('absent', { of }) as OptionalSchema<T>;
}

/* @__NO_SIDE_EFFECTS__ */
export function nullable<T>(of: Schema<T>): Schema<T | null> {
  return schema('absent', { of, absent: null });
}

/* @__NO_SIDE_EFFECTS__ */
export function union<const Either extends readonly AnySchema[]>(...either: Either): Schema<OutputOf<Either[number]>> {
  return schema('union', { either });
}

/** Of an answer: fields that a newer service adds are nobody's mistake. */
/* @__NO_SIDE_EFFECTS__ */
export function object<F extends Fields>(fields: F): Schema<ObjectOf<F>> {
  return schema('object', { fields, keys: Object.keys(fields) });
}

/** Of arguments: a misspelt field is an error, not a field that is silently ignored. */
/* @__NO_SIDE_EFFECTS__ */
export function strictObject<F extends Fields>(fields: F): Schema<ObjectOf<F>> {
  return schema('object', { fields, keys: Object.keys(fields), strict: true });
}

/** Equal in every detail, not only assignable. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/**
 * Proves at compile time that a schema gives exactly the interface we publish: `exact<UsageReport>()(object({ … }))`.
 * Interfaces keep hover texts and declaration files short; this keeps them true.
 */
/* @__NO_SIDE_EFFECTS__ */
export function exact<T>() {
  return <S extends AnySchema>(proven: S & (Equal<OutputOf<S>, T> extends true ? unknown : never)): Schema<T> =>
    proven as Schema<T>;
}

/** A text the caller must give: an id, a name, a model. */
export const requiredText = string({ least: 1, most: 1_024 });

/** A count: whole, not negative, and exact as a JavaScript number. */
export const count = integer({ least: 0 });

const TIMESTAMP = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

/** ISO 8601, with or without an offset. */
export const timestamp = string({ pattern: TIMESTAMP, expected: 'an ISO 8601 time' });
