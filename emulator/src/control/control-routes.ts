import { type Context, Hono } from 'hono';
import type * as z from 'zod/mini';
import { checked, parseJson } from '../base/checked.js';
import type { Clock } from '../base/clock.js';
import type { DescribedEndpoint, Endpoint } from '../base/endpoint.js';
import { HttpError } from '../base/errors.js';
import type { ScriptedReplies } from '../completions/scripted-replies.js';
import type { CompactionLevel } from '../context/compaction/compact.js';
import type { CompactionResult } from '../context/responses.js';
import type { Faults } from '../faults/faults.js';
import { readBytes } from '../http/body.js';
import type { RequestRecord } from '../http/request-log.js';
import type { RequestChanges } from '../http/resent.js';
import type { Stores } from '../store/stores.js';
import type { Answers } from '../upstream/cassettes.js';
import type { InspectedConversation, Overview } from './overview.js';
import type { Snapshots } from './snapshots.js';
import type { EmulatorState } from './state.js';

/** The members of an emulator that the control plane uses. */
export interface ControlledEmulator
  extends Pick<
    Stores,
    | 'account'
    | 'apiKeys'
    | 'sessions'
    | 'workspaces'
    | 'conversations'
    | 'models'
    | 'presets'
    | 'files'
    | 'integrations'
  > {
  readonly chat: ScriptedReplies;
  readonly faults: Faults;
  readonly clock: Clock;
  recentRequests(limit: number, after?: string | undefined): RequestRecord[];
  request(requestId: string): RequestRecord | undefined;
  resend(requestId: string, changes: RequestChanges): string | undefined;
  overview(search?: string | undefined): Overview;
  /** Advances the clock, and notifies listeners. */
  advanceClock(ms: number): void;
  inspect(conversationId: string): Promise<InspectedConversation | undefined>;
  compact(conversationId: string, level: CompactionLevel): Promise<CompactionResult | undefined>;
  readonly sessionToken: string;
  readonly snapshots: Snapshots;
  answers(): Answers;
  state(): EmulatorState;
  restore(state: EmulatorState): void;
  reset(): void;
  endScope(name: string): Promise<boolean>;
}

/** The routes of the control plane, and their descriptions. */
export class ControlRoutes {
  readonly endpoints: DescribedEndpoint[] = [];
  /** Private, so that no route can be added without a description. */
  readonly #app = new Hono({ strict: false });

  constructor() {
    this.#app.notFound((c) => c.json({ error: `there is no ${c.req.method} ${c.req.path}` }, 404));
    this.#app.onError((error, c) => {
      if (error instanceof HttpError) return c.json({ error: error.message }, error.status as 400);
      if (error instanceof RangeError) return c.json({ error: error.message }, 400);
      return c.json({ error: error.message }, 500);
    });
  }

  /** Registers the methods of one path under `/_emulator`. */
  route(path: string, methods: Record<string, Endpoint<(c: Context) => Response | Promise<Response>>>): void {
    for (const [method, { handle, ...form }] of Object.entries(methods)) {
      this.endpoints.push({ method, path: PREFIX + path, ...form });
      this.#app.on(method, PREFIX + path, handle);
    }
  }

  handle(request: Request): Response | Promise<Response> {
    return this.#app.fetch(request);
  }
}

/** The path of the control plane. */
export const PREFIX = '/_emulator';

/** The value of a path parameter. */
export function idOf(c: Context, name = 'id'): string {
  return c.req.param(name) ?? '';
}

/** Parses the body with a schema. Throws a 400 that names the first missing, invalid or unknown field. */
export async function checkedBody<T>(c: Context, schema: z.ZodMiniType<T>): Promise<T> {
  return checked(schema, await bodyOf(c), true);
}

/** The JSON body of a control request. An empty body is `{}`. */
export async function bodyOf(c: Context): Promise<unknown> {
  return parseJson(new TextDecoder().decode(await readBytes(c.req.raw, BODY_LIMIT, 'body')) || '{}');
}

/** Returns the record, or throws a 404. */
export function found<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw new HttpError(404, `there is no such ${what}`);
  return record;
}

const BODY_LIMIT = 256 * 1024 * 1024;
