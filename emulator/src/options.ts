import type { ListForm } from './api/gateway-routes.js';
import type { Clock } from './base/clock.js';
import type { RateLimitReset } from './http/service.js';
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
  /** What one chunk carries. @default 'token' */
  chunkBy?: 'token' | 'word' | 'char' | undefined;
  /** Bytes of one written piece at most: small ones cut inside characters and inside line ends. @default whole events */
  splitBytes?: number | undefined;
  /** How lines end. @default 'lf' */
  lineEnd?: 'lf' | 'crlf' | 'cr' | undefined;
  /** Milliseconds of silence after which a comment line is sent. @default none */
  heartbeat?: number | undefined;
}

/** How the service is set up. Everything has a plain default. */
export interface ServiceOptions {
  /** Makes ids, keys and tokens the same on every run. @default random */
  seed?: string | number | undefined;
  /** Where time comes from. @default the system's clock */
  clock?: Clock | undefined;
  /** Short for a clock that stands at this point in time until it is advanced. */
  now?: Date | string | number | undefined;
  /** What the account pays for: a plan's name, or a plan of your own. @default 'agency' */
  plan?: PlanName | Plan | undefined;
  /** Fixed windows; a number is requests a minute. @default those of the plan: gateway 1000, context 300, compact 20 (A12) */
  limits?:
    | {
        gateway?: RateLimit | number | undefined;
        context?: RateLimit | number | undefined;
        compact?: RateLimit | number | undefined;
      }
    | undefined;
  /** Bytes of one uploaded file (A14). @default 32 MiB */
  maxFileSize?: number | undefined;
  /** Bytes of one JSON body. @default 8 MiB */
  maxBodySize?: number | undefined;
  /** Tokens of an answer when the request gives no `max_tokens` (A14). @default 4096 */
  maxTokens?: number | undefined;
  /** The tokens a month includes, and the price of a million more (A25). @default those of the plan: 10 million, 2 */
  usage?: { includedTokens?: number | undefined; overagePricePerMillion?: number | undefined } | undefined;
  /** What a publishable key may call (A9), as `METHOD /path`. @default GETs except usage, and chat completions */
  publishableEndpoints?: readonly string[] | undefined;
  /** The header of the session token (A8); an empty scheme means the bare token. @default Authorization, Bearer */
  sessionHeader?: { name?: string | undefined; scheme?: string | undefined } | undefined;
  /** The unit of `X-RateLimit-Reset` (A13). @default 'epoch-seconds' */
  rateLimitReset?: RateLimitReset | undefined;
  /**
   * Browsers: which origins may call, and whether they may read our headers; false: no CORS.
   * @default any origin, with a seed only those of this machine, because its keys are no secret; yes
   */
  cors?: { origins?: '*' | readonly string[] | undefined; exposeHeaders?: boolean | undefined } | false | undefined;
  /**
   * Opens the control plane and the inspector to other machines: then only those who send it as `Authorization: Bearer` may use
   * them. @default this machine may, and no other
   */
  controlToken?: string | undefined;
  /** Milliseconds before every answer of the two API areas. @default 0 */
  latency?: number | undefined;
  /** How streams are paced. @default at once, a chunk per token */
  pace?: StreamPace | undefined;
  /** How lists are wrapped (A3): `{ data }`, a bare array, `{ presets }`/`{ integrations }`, or `{ items }`. @default 'data' */
  listForm?: ListForm | undefined;
  /** The default and the largest `limit` of the presets list (A14). @default 50, 100 */
  presetsLimit?: { default?: number | undefined; max?: number | undefined } | undefined;
  /** A directory in which everything is kept, in one file. @default in memory */
  data?: string | undefined;
  /** Where records are kept, in place of `data`. */
  storage?: Storage | undefined;
  /** Refuse body fields that are not documented with a 400. @default false */
  strict?: boolean | undefined;
  /** A server of the OpenAI form whose models answer completions. @default none, and no connection is ever opened */
  upstream?: UpstreamOptions | undefined;
  /** Keep what the upstream answers in a directory, or answer from one without any connection. */
  cassettes?: { directory: string; mode: 'record' | 'replay' } | undefined;
  /** Who writes summaries. With `'upstream'` a model does, and the extractive engine where it fails. @default 'extractive' */
  summarizer?: SummarizerName | undefined;
}
