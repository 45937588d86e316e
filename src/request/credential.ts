import { readEnvironment } from '#platform';
import { ConfigurationError } from '../errors/base.js';
import { environmentHint } from './base-url.js';
import type { Credential } from './client-options.js';

/** The names of a credential in messages. Messages never contain its value. */
export interface CredentialKind {
  /** The option that takes it: `apiKey`. */
  readonly option: string;
  /** The environment variable that takes it. */
  readonly variable: string;
  /** Finds problems of a value that are specific to this kind. */
  readonly findProblem: (value: string) => string | undefined;
}

/**
 * Returns a function that reads the header's value. A credential function is called each time. Without a credential,
 * the first call reads the environment again: a client may be created when a site is built, without variables.
 * @throws {ConfigurationError} when the credential is wrong; when it is missing, the returned function does
 */
export function credentialReader(
  given: Credential | undefined,
  kind: CredentialKind,
  format: (value: string) => string,
): () => string | Promise<string> {
  const readerOf = (credential: Credential): (() => string | Promise<string>) => {
    if (typeof credential === 'function')
      return async () => format(checkCredential(await call(credential, kind), kind));
    const header = format(checkCredential(credential, kind));
    return () => header;
  };
  const credential = given ?? readEnvironment(kind.variable);
  let read = credential === undefined ? undefined : readerOf(credential);
  return () => {
    const late = read === undefined ? readEnvironment(kind.variable) : undefined;
    if (late !== undefined) read = readerOf(late);
    if (read === undefined) throw new ConfigurationError(`${kind.option} is missing. ${howToGive(kind)}.`);
    return read();
  };
}

async function call(credential: () => unknown, { option }: CredentialKind): Promise<unknown> {
  let value: unknown;
  try {
    value = await credential();
  } catch (cause) {
    throw new ConfigurationError(`The ${option} function threw. Its error is the cause.`, { cause });
  }
  if (value !== undefined && value !== null) return value;
  const hint = 'Check that the value it reads is set.';
  throw new ConfigurationError(`The ${option} function returned ${value} instead of a string. ${hint}`);
}

function checkCredential(value: unknown, kind: CredentialKind): string {
  const problem = findProblem(value, kind) ?? kind.findProblem(value as string); // `findProblem` has checked that it is a string
  if (problem !== undefined) throw new ConfigurationError(`${kind.option} ${problem}.`);
  return value as string;
}

function howToGive({ option, variable }: CredentialKind): string {
  return `Pass { ${option}: … } (a string, or a function that returns one)${environmentHint(variable)}`;
}

function findProblem(value: unknown, kind: CredentialKind): string | undefined {
  if (typeof value !== 'string') return 'must be a string, or a function that returns one';
  if (value.trim() === '') return `is empty. ${howToGive(kind)}`;
  if (/^\s|\s$/.test(value)) return 'begins or ends with whitespace; trim it';
  if (/^(["']).*\1$/.test(value)) return 'is in quotes; leave them out';
  if (/^bearer\b/i.test(value)) return 'must not contain "Bearer"; the client adds it';
  if (!/^[\u0021-\u007e]+$/.test(value))
    return 'contains spaces, line breaks or non-ASCII characters; no credential does';
  return undefined;
}
