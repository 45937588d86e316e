import type { Fault } from './plan.js';

/** A mistake that a developer could make in one place of one module, and the invariant that must notice it. */
export interface Bug {
  readonly name: string;
  readonly module: string;
  readonly place: string;
  readonly instead: string;
  readonly invariant: string;
  /** The fault that reveals it, which every third attempt gets. */
  readonly fault: Fault;
}

export const BUGS: readonly Bug[] = [
  {
    name: 'an effect is repeated after a broken connection',
    module: 'src/call/retry.ts',
    place: "const isSafeToRepeat = method !== 'POST' ||",
    instead: "const isSafeToRepeat = method !== 'none' ||",
    invariant: 'I1',
    fault: 'reset after it is done',
  },
  {
    name: "a proxy's 503 is taken for a refusal of the service",
    module: 'src/response/error-details.ts',
    place: "return isServiceError(body) ? 'no' : 'maybe';",
    instead: "return isServiceError(body) ? 'no' : 'no';",
    invariant: 'I1',
    fault: "a proxy's 503",
  },
  {
    name: 'the hint in a body is not read',
    module: 'src/rate-limit/headers.ts',
    place: 'const waits = [header, inBody].filter',
    instead: 'const waits = [header].filter',
    invariant: 'I6',
    fault: '429 with a hint in its body',
  },
  {
    name: 'a wait between attempts does not end with the deadline',
    module: 'src/request/timeouts.ts',
    place: 'return this.wait(slept, () => this.runtime.clearTimer(timer));',
    instead:
      'return slept.then(() => this.sleepOn()).then(() => this.check()); } sleepOn(): Promise<void> { return new Promise((go) => this.runtime.setTimer(go, 60_000));',
    invariant: 'I4',
    fault: '503',
  },
  {
    name: 'the listener on a signal stays',
    module: 'src/base/on-abort.ts',
    place: "signal.removeEventListener('abort', following.listener);",
    instead: '',
    invariant: 'I9',
    fault: 'none',
  },
  {
    name: 'an unwanted body is not cancelled',
    module: 'src/platform/node.ts',
    place: 'if (!this.#ended) this.#controller?.abort(error);',
    instead: '',
    invariant: 'I9',
    fault: 'silent in the body',
  },
  {
    name: 'the end of the body is taken for the end of the stream',
    module: 'src/stream/stream-owner.ts',
    place: "if (next === 'ended' && !this.#accumulator.finished) throw new StreamTruncatedError();",
    instead: 'void StreamTruncatedError;',
    invariant: 'I14',
    fault: 'truncated stream',
  },
  {
    name: 'a 429 that says nothing slows nothing down',
    module: 'src/rate-limit/rate-window.ts',
    place: 'if (rejected) this.#block(retryAfter, now);',
    instead: 'if (rejected && retryAfter !== undefined) this.#block(retryAfter, now);',
    invariant: 'I20',
    fault: 'none',
  },
  {
    name: 'a list is copied for each of its entries',
    module: 'src/stream/pieces.ts',
    place: 'entries.set(index, continued(entries.get(index), entry));',
    instead: 'if ([...entries.keys()].length >= 0) entries.set(index, continued(entries.get(index), entry));',
    invariant: 'I21',
    fault: 'none',
  },
  {
    name: 'too many mistakes end a call with the error of zod',
    module: 'src/validation/schema-issues.ts',
    place: "return [{ path: [], message: 'has too many mistakes' }];",
    instead: "throw new RangeError('too many mistakes');",
    invariant: 'I22',
    fault: 'none',
  },
  {
    name: 'a turn compares with what was loaded last',
    module: 'src/conversation/context/session.ts',
    place: 'newest: seen.at(-1)?.id };',
    instead: 'newest: this.history.messages.at(-1)?.id };',
    invariant: 'I23',
    fault: 'none',
  },
  {
    name: 'a turn that was not stored ends well',
    module: 'src/conversation/context/session.ts',
    place:
      "throw new ConversationStoreError('The turn could not be stored: store.append failed. See cause.', { cause });",
    instead: 'return [];',
    invariant: 'I24',
    fault: 'none',
  },
  {
    name: 'an empty column of a row is taken for a value',
    module: 'src/conversation/context/session.ts',
    place: 'value !== null && value !== undefined);',
    instead: 'value !== undefined);',
    invariant: 'I25',
    fault: 'none',
  },
  {
    name: 'a batch keeps what it has delivered',
    module: 'src/gateway/map-calls.ts',
    place: 'if (this.#failure === undefined) this.#outcomes.push(outcome);',
    instead: `if (this.#failure === undefined) this.#outcomes.push(outcome);
    const batch: { kept?: unknown[] } = this;
    (batch.kept ??= []).push(outcome);`,
    invariant: 'I26',
    fault: 'none',
  },
  {
    name: 'redirects are followed',
    module: 'src/platform/node.ts',
    place: 'const headers = new NodeHeaders(fields);',
    instead: `const headers = new NodeHeaders(fields);
    const target = status < 400 && status >= 300 ? headers.get('location') : undefined;
    if (target !== undefined) void fetch(target, { method: 'POST' }).catch(() => {});`,
    invariant: 'I12',
    fault: 'redirect',
  },
  {
    name: 'an error keeps the request',
    module: 'src/call/transport.ts',
    place:
      'if (error instanceof ContextGatewayError && call.attempt !== undefined) addCallDetails(error, call.attempt);',
    instead:
      'if (error instanceof ContextGatewayError) { addCallDetails(error, call.attempt); Object.assign(error, { request: { ...call.request, key: this.#client.area.authorize() } }); }',
    invariant: 'I13',
    fault: '500',
  },
  {
    name: 'a quoted prompt is printed',
    module: 'src/errors/redactor.ts',
    place: 'withoutEcho(bounded, this.#texts)',
    instead: 'bounded',
    invariant: 'I19',
    fault: 'an error that quotes the request',
  },
];
