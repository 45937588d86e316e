import type { Readable } from 'node:stream';
import type { Clients, Command, Parameter } from './operations.js';
import { printable } from './tables.js';
import { UsageError } from './usage-error.js';

/** A command that calls a model, and prints its reply while it arrives. */
export interface Talk extends Command {
  run(clients: Clients, asked: Asked, terminal: Terminal): Promise<void>;
}

/** What the user asks for. */
export interface Asked {
  readonly given: Readonly<Record<string, string | undefined>>;
  readonly files: readonly string[];
  readonly json: boolean;
}

/** Where a command reads and prints. */
export interface Terminal {
  readonly input: Readable & { isTTY?: boolean };
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Prints an error. */
  readonly report: (error: unknown) => void;
}

/** The parameters of both commands. */
export const TALK_PARAMETERS: Readonly<Record<string, Parameter>> = {
  model: { description: 'The id of the model; without it, that of CONTEXT_GATEWAY_MODEL', format: 'MODEL' },
  system: { description: 'Instructions for the model' },
  file: { description: 'A text to send, in UTF-8; may be given several times', format: 'PATH', repeats: true },
};

/** @throws {UsageError} when there is none: the API has no list of models to take one from */
export function modelOf({ model = process.env.CONTEXT_GATEWAY_MODEL }: Asked['given']): string {
  if (model) return model;
  throw new UsageError(
    'Which model? Pass --model, or set CONTEXT_GATEWAY_MODEL. `context-gateway usage` shows which have been used.',
  );
}

/** Prints a reply piece by piece, without what a terminal would obey. It ends with a line end, also when it is cut off. */
export async function printReply(pieces: AsyncIterable<string>, out: Terminal['out']): Promise<void> {
  let last = '\n';
  try {
    for await (const text of pieces) {
      out(printable(text));
      last = text;
    }
  } finally {
    if (!last.endsWith('\n')) out('\n');
  }
}
