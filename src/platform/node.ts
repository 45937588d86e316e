import type { Socket } from 'node:net';
import type { ZodMiniType } from 'zod/mini';
import * as z from 'zod/mini';
import { ConfigurationError } from '../errors/base.js';
import { type Agent, createAgent } from './agent.js';
import type { Dispatch } from './dispatch.js';
import type {
  Engine,
  EngineKind,
  EngineOptions,
  Exchange,
  Form,
  OutgoingRequest,
  ProgressListener,
  Upload,
} from './engine.js';
import { environmentLog } from './environment.js';
import { type FetchRules, fetchEngine, requestInit } from './fetch.js';
import { appWideDispatcher, isNativeFetch, isNodesFetch } from './is-ours.js';
import { meaningInDispatcher, meaningInFetch, meaningInPool } from './meaning.js';
import { NodeExchange } from './node-exchange.js';
import { responseIn } from './response-in.js';
import { contentOf, openFile } from './upload/content.js';
import { multipart } from './upload/multipart.js';

export { environmentListener, isBrowser, readEnvironment, userAgent } from './environment.js';
export { adviceFor } from './names-of-others.js';
export { redirectTarget, stillEncoded } from './on-the-way.js';

/** Compiling a schema takes 2 to 4 ms and makes checks twenty times faster. Short programs should not pay for it. */
const USES_BEFORE_COMPILING = 30;

const FETCH_RULES: FetchRules = { requestInit, meaningOf: meaningInFetch, responseIn };

/** Files on disk and streams are sent while they are read. */
export function createForm(form: Form, listener: ProgressListener): Upload {
  return multipart(form, contentOf(form, openFile), listener);
}

/**
 * Sends through undici on Node, and through the app-wide dispatcher if there is one. Uses `fetch` if the user passed
 * one, if the global one is not Node's own (replaced, or on Bun or Deno), or if undici cannot be loaded.
 */
export function createEngine(options: EngineOptions): Engine {
  if (options.fetch !== undefined)
    return fetchEngine(options.fetch, { ...FETCH_RULES, sendsOnce: sendsOnce(options.fetch) });
  if (options.dispatcher !== undefined && typeof options.dispatcher.dispatch !== 'function') {
    throw new ConfigurationError('dispatcher must be an undici Dispatcher, such as a new ProxyAgent(url).');
  }
  return new NodeEngine(options);
}

/** A cache for each schema. It does not affect results. */
const known = new WeakMap<ZodMiniType, { uses: number; schema: ZodMiniType }>();

/** Whether a value matches a schema. Copies nothing. */
export function matches(schema: ZodMiniType, value: unknown): boolean {
  let used = known.get(schema);
  if (used === undefined) {
    used = { uses: 0, schema };
    known.set(schema, used);
  }
  used.uses += 1;
  if (used.uses === USES_BEFORE_COMPILING) used.schema = z.compile(schema);
  return z.validate(used.schema, value);
}

/** Deno repeats a POST itself when a kept connection breaks before the response, but not one with a Blob. */
function sentOnce(request: OutgoingRequest): ReturnType<typeof requestInit> {
  const init = requestInit(request);
  const isPlain = request.method === 'POST' && typeof request.body !== 'object';
  return isPlain ? { ...init, body: new Blob([request.body ?? '']) } : init;
}

class NodeEngine implements Engine {
  readonly #given: Dispatch | undefined;
  readonly #fetchEngine = fetchEngine(
    undefined,
    'Deno' in globalThis ? { ...FETCH_RULES, requestInit: sentOnce } : FETCH_RULES,
  );
  /** The origins that have sent valid HTTP through our own connections. */
  readonly #heard = new Set<string>();
  readonly #meaningInPool = meaningInPool(this.#heard);
  #own: Agent | 'fetch' | undefined;
  #nativeFetch: unknown;
  readonly #connecting = new Set<Socket>();

  constructor({ dispatcher }: EngineOptions) {
    // The structural type hides undici's parameter types. The arguments of `dispatch` below follow undici's
    // documentation.
    this.#given = dispatcher as Dispatch | undefined;
  }

  get kind(): EngineKind {
    const chosen = this.#given ?? this.#chosenByApp();
    if (chosen !== undefined) return chosen === 'fetch' ? 'fetch' : 'dispatcher';
    return this.#openOwn() === 'fetch' ? 'fetch' : 'undici';
  }

  send(request: OutgoingRequest): Exchange {
    const { origin } = request;
    const chosen = this.#given ?? this.#chosenByApp();
    if (chosen === 'fetch') return this.#fetchEngine.send(request);
    if (chosen !== undefined)
      return new NodeExchange(request, chosen, {
        origin,
        through: ' through the dispatcher',
        meaningOf: meaningInDispatcher,
      });
    const own = this.#openOwn();
    const meaningOf = this.#meaningInPool;
    if (own !== 'fetch') return new NodeExchange(request, own, { origin, meaningOf }, this.#heard);
    // Node's own `fetch`, directly: everything else was chosen above.
    return fetchEngine(undefined, { requestInit, meaningOf, sendsOnce: true }).send(request);
  }

  async close(): Promise<void> {
    if (this.#own === 'fetch') return;
    await this.#own?.destroy();
    for (const socket of this.#connecting) socket.destroy(); // undici waits for these
  }

  /** undici is loaded at the first request, so that importing this package stays cheap. */
  #openOwn(): Agent | 'fetch' {
    if (this.#own !== undefined) return this.#own;
    try {
      this.#own = createAgent(this.#connecting);
    } catch (error) {
      this.#own = 'fetch';
      const { code, message } = error as { code?: unknown; message?: unknown };
      const reason =
        code === 'MODULE_NOT_FOUND' ? 'undici was not found' : `undici cannot be used (${code ?? message})`;
      environmentLog()?.(`context-gateway: ${reason}, so requests go through the global fetch`);
    }
    return this.#own;
  }

  /** What all requests of the app go through. A request that goes around it would miss a proxy or a mock. */
  #chosenByApp(): Dispatch | 'fetch' | undefined {
    return this.#fetchIsReplaced() ? 'fetch' : appWideDispatcher();
  }

  /** Mocks and instrumentations replace the global `fetch`. */
  #fetchIsReplaced(): boolean {
    const { fetch } = globalThis;
    if (fetch === this.#nativeFetch || fetch === undefined) return false;
    if (!isNodesFetch(fetch)) return true;
    this.#nativeFetch = fetch;
    return false;
  }
}

/**
 * The platform's own `fetch` sends once. Any other, or one with a replaced dispatcher, may retry requests, so that
 * its last failure says nothing about earlier attempts.
 */
function sendsOnce(fetch: unknown): boolean {
  return fetch === globalThis.fetch && appWideDispatcher() === undefined && isNativeFetch(fetch);
}
