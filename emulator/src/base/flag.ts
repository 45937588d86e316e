import * as z from 'zod/mini';

/** How the command takes an option: as a flag, an environment variable, and a field of the config file. */
export interface Flag {
  /** Its heading in the help. */
  group: keyof typeof GROUPS;
  /** The placeholder after the flag. `FILE` and `DIR` are paths, a `LIST` is separated by commas; a switch has none. */
  value?: string | undefined;
  /** Its description in the help and the documentation. */
  about: string;
  /** The default as the help prints it. @default that of the schema */
  byDefault?: string | undefined;
  /** Parses a text. Returns invalid text unchanged, and the schema rejects it. @default the text itself */
  read?: ((text: string) => unknown) | undefined;
  /** Whether the flag may be repeated. */
  isRepeatable?: boolean | undefined;
  /** Never repeated in a message. */
  isSecret?: boolean | undefined;
}

/** The headings of the help, in their order. */
export const GROUPS = {
  server: 'Address and data',
  service: 'Behaviour of the service',
  completions: 'Source of completions (default: a deterministic reply derived from the request)',
  output: 'Output',
};

/** The flags by schema. An option without one can only be set in code. */
export const FLAGS = z.registry<Flag>();

/** Makes an option of the command, under a heading of its help. */
export function flag<Schema extends z.ZodMiniType>(
  group: Flag['group'],
  schema: Schema,
  about: Omit<Flag, 'group'>,
): Schema {
  FLAGS.add(schema, { ...about, group });
  return schema;
}

/** Parses a number. */
export function toNumber(text: string): unknown {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Parses `name=value` pairs, separated by commas. */
export function toPairs(toValue: (text: string) => unknown = String, comma = /,/): (text: string) => unknown {
  return (text) => {
    const pairs = text.split(comma).map((pair) => /^([^=]+)=(.*)$/s.exec(pair));
    if (pairs.includes(null)) return text;
    return Object.fromEntries(pairs.map((pair) => [pair?.[1]?.trim(), toValue(pair?.[2]?.trim() ?? '')]));
  };
}
