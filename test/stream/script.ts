/** What the server does with one request. Plain JSON, so that a test in a browser can send it. */
export interface Script {
  /** @default 200 */
  readonly status?: number;
  /** @default an event stream's content type */
  readonly headers?: Readonly<Record<string, string>>;
  /** Raw text before the status line, for 1xx responses. */
  readonly before?: string;
  /** How the end of the body is marked. @default 'chunked' */
  readonly framing?: 'chunked' | 'close';
  /** Compresses the body, and flushes after each step. */
  readonly compress?: 'gzip' | 'deflate' | 'br';
  /** The connection stays open after the last step. */
  readonly steps: readonly Step[];
}

export type Step =
  /** Text, sent in one piece. */
  | { readonly send: string; readonly times?: number }
  /** Raw bytes, never compressed by the server. */
  | { readonly bytes: readonly number[] }
  /** Waits for the test to call `go`. */
  | { readonly wait: true }
  /**
   * `whole` ends the body correctly. `short` does too, but leaves out the end of compressed data. `fin` closes the
   * connection, and `reset` resets it.
   */
  | { readonly end: 'whole' | 'short' | 'fin' | 'reset'; readonly trailers?: string };

/** What the server has seen of the requests to one list of scripts. */
export interface Report {
  readonly requests: number;
  /** Connections that are still open. */
  readonly open: number;
  /** Distinct connections that carried a request. */
  readonly connections: number;
}

export const WAIT: Step = { wait: true };
export const END: Step = { end: 'whole' };
export const DONE = 'data: [DONE]\n\n';

export const send = (...texts: string[]): Step => ({ send: texts.join('') });
export const stream = (...steps: Step[]): Script => ({ steps });

/** One event with a JSON chunk. */
export const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
export const chunk = (choices: readonly object[], more: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_767_600_000,
  model: 'atlas-small',
  choices,
  ...more,
});
/** An event that adds text. */
export const text = (content: string, index = 0): string =>
  event(chunk([{ index, delta: { content }, finish_reason: null }]));
/** An event with the finish_reason of a choice. */
export const finish = (reason = 'stop', index = 0): string =>
  event(chunk([{ index, delta: {}, finish_reason: reason }]));

/** A short, complete stream. */
export const RHINE = [text('The '), text('Rhine.'), finish(), DONE].join('');

/** One event, and then silence. */
export const SILENT = stream(send(text('The ')));
/** The `streamIdleTimeout` of the cases, in milliseconds. */
export const IDLE = 1_000;

export const PARAMS = {
  model: 'atlas-small',
  messages: [{ role: 'user', content: 'Name a river.' }],
  stream: true,
} as const;
