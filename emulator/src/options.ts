import type { ListForm } from './api/gateway-routes.js';
import type { Clock } from './base/clock.js';
import type { RateLimitReset } from './http/admission.js';
import type { Plan, PlanName, RateLimit } from './store/account.js';
import type { SummarizerName } from './store/conversation-records.js';
import type { Storage } from './store/storage.js';
import type { UpstreamOptions } from './upstream/model-source.js';

/** How a stream is paced. */
export interface StreamPace {
  /** Milliseconds until the first content chunk. @default 0 */
  ttft?: number | undefined;
  /** @default no limit */
  tokensPerSecond?: number | undefined;
  /** The content of one chunk. @default 'token' */
  chunkBy?: 'token' | 'word' | 'char' | undefined;
  /** The most bytes per write. Small values split characters and line ends. @default whole events */
  splitBytes?: number | undefined;
  /** How lines end. @default 'lf' */
  lineEnd?: 'lf' | 'crlf' | 'cr' | undefined;
  /** Milliseconds of silence after which a comment line is sent. @default none */
  heartbeat?: number | undefined;
}

/** Settings of the emulated service. All are optional. */
export interface ServiceOptions {
  /** Generates the same ids, keys and tokens on every run. @default random */
  seed?: string | number | undefined;
  /** The clock. @default the system's clock */
  clock?: Clock | undefined;
  /** Sets a clock that stands still at this time until it is advanced. */
  now?: Date | string | number | undefined;
  /** The account's plan: a name, or your own plan. @default 'agency' */
  plan?: PlanName | Plan | undefined;
  /**
   * Rate limits, in fixed windows. A number is requests per minute.
   * @default those of the plan: gateway 1000, context 300, compact 20 (A12)
   */
  limits?:
    | {
        gateway?: RateLimit | number | undefined;
        context?: RateLimit | number | undefined;
        compact?: RateLimit | number | undefined;
        /** Tokens of completions: prompt and answer. @default no limit */
        tokens?: RateLimit | number | undefined;
      }
    | undefined;
  /** The most bytes of an uploaded file (A14). @default 32 MiB */
  maxFileSize?: number | undefined;
  /** The most bytes of a JSON body. @default 8 MiB */
  maxBodySize?: number | undefined;
  /** The most tokens of a reply, if the request sets no `max_tokens` (A14). @default 4096 */
  maxTokens?: number | undefined;
  /** The included tokens per month, and the price of a million more (A25). @default those of the plan: 10 million, 2 */
  usage?: { includedTokens?: number | undefined; overagePricePerMillion?: number | undefined } | undefined;
  /**
   * The endpoints that a publishable key may call (A9), as `METHOD /path`.
   * @default `GET /v1/presets`, `GET /v1/integrations` and `POST /v1/chat/completions`
   */
  publishableEndpoints?: readonly string[] | undefined;
  /**
   * The header of the session token (A8). With an empty scheme, it contains only the token.
   * @default Authorization, Bearer
   */
  sessionHeader?: { name?: string | undefined; scheme?: string | undefined } | undefined;
  /** The unit of `X-RateLimit-Reset` (A13). @default 'epoch-seconds' */
  rateLimitReset?: RateLimitReset | undefined;
  /**
   * CORS: which origins may call, and whether they may read our headers. `false` turns CORS off.
   * @default any origin, or with a seed only pages of this machine, because the keys are not secret; headers exposed
   */
  cors?: { origins?: '*' | readonly string[] | undefined; exposeHeaders?: boolean | undefined } | false | undefined;
  /**
   * Opens the control plane and the inspector to other machines. Then only requests that send this token as
   * `Authorization: Bearer` may use them.
   * @default none: only this machine may use them
   */
  controlToken?: string | undefined;
  /** Milliseconds before every response of both APIs. @default 0 */
  latency?: number | undefined;
  /** How streams are paced. @default no delay, a chunk per token */
  pace?: StreamPace | undefined;
  /**
   * How lists are wrapped (A3): `{ data }`, a bare array, `{ presets }`/`{ integrations }`, or `{ items }`.
   * @default 'data'
   */
  listForm?: ListForm | undefined;
  /** The default and the largest `limit` of the presets list (A14). @default 50, 100 */
  presetsLimit?: { default?: number | undefined; max?: number | undefined } | undefined;
  /** A directory in which to store everything, in one file. @default in memory */
  data?: string | undefined;
  /** Your own store of records, instead of `data`. */
  storage?: Storage | undefined;
  /** Rejects undocumented body fields with a 400. @default false */
  strict?: boolean | undefined;
  /** An OpenAI-compatible server that generates completions. @default none; no connection is opened */
  upstream?: UpstreamOptions | undefined;
  /** Records upstream responses in a directory, or replays them without a connection. */
  cassettes?: { directory: string; mode: 'record' | 'replay' } | undefined;
  /** What writes summaries. `'upstream'` is a model; if it fails, the extractive engine does. @default 'extractive' */
  summarizer?: SummarizerName | undefined;
}
