/** What the server does with one request: plain JSON, so that a test in a browser can hand it over as well. */
export interface Script {
  /** @default 200 */
  readonly status?: number;
  /** @default an event stream's content type */
  readonly headers?: Readonly<Record<string, string>>;
  /** Raw text before the status line: answers of the 1xx kind. */
  readonly before?: string;
  /** How the client learns where the body ends. @default 'chunked' */
  readonly framing?: 'chunked' | 'close';
  /** Compresses what is sent, and flushes it after each step. */
  readonly compress?: 'gzip' | 'deflate' | 'br';
  /** After the last one the connection stays open. */
  readonly steps: readonly Step[];
}

export type Step =
  /** Text, in one piece. */
  | { readonly send: string; readonly times?: number }
  /** Bytes as they are, compressed or not. */
  | { readonly bytes: readonly number[] }
  /** Goes on when the test says so. */
  | { readonly wait: true }
  /**
   * `whole`: as HTTP has it; `short`: the same, but compressed data lack their end; `fin`: the connection is closed, `reset`:
   * broken.
   */
  | { readonly end: 'whole' | 'short' | 'fin' | 'reset'; readonly trailers?: string };

/** What the server saw of one script's requests. */
export interface Report {
  readonly requests: number;
  /** Of its requests' connections: those that are open now. */
  readonly open: number;
  /** Different connections that carried its requests. */
  readonly connections: number;
}

export const WAIT: Step = { wait: true };
export const END: Step = { end: 'whole' };
export const DONE = 'data: [DONE]\n\n';

export const send = (...texts: string[]): Step => ({ send: texts.join('') });
export const stream = (...steps: Step[]): Script => ({ steps });

/** One event in the widespread form. */
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
/** The event that says why a choice ends. */
export const finish = (reason = 'stop', index = 0): string =>
  event(chunk([{ index, delta: {}, finish_reason: reason }]));

/** A short answer from its first byte to its last. */
export const RHINE = [text('The '), text('Rhine.'), finish(), DONE].join('');
