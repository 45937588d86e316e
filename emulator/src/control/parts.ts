import type { Changes } from '../base/changes.js';
import type { Clock } from '../base/clock.js';
import type { ScriptedReplies } from '../completions/scripted-replies.js';
import type { ConversationContexts } from '../context/conversation-context.js';
import type { Faults } from '../faults/faults.js';
import type { AreaRoutes } from '../http/area-routes.js';
import type { RequestLog } from '../http/log/request-log.js';
import type { RateLimiter } from '../http/rate-limit.js';
import type { Stores } from '../store/stores.js';
import type { Answers } from '../upstream/sources.js';
import type { Snapshots } from './state/snapshots.js';

/** What an emulator is made of, for the control plane. */
export interface EmulatorParts {
  settings: { controlToken?: string | undefined; sessionHeader: { name: string; scheme: string } };
  clock: Clock;
  stores: Stores;
  contexts: ConversationContexts;
  chat: ScriptedReplies;
  faults: Faults;
  snapshots: Snapshots;
  log: RequestLog;
  limiter: RateLimiter;
  changes: Changes;
  /** The routes of both APIs. */
  context: AreaRoutes;
  gateway: AreaRoutes;
  /** Fires when the emulator is closed. */
  closed: AbortSignal;
  /** Sends a request to both APIs. */
  fetch: (request: Request) => Promise<Response>;
  answers(): Answers;
  reset(): void;
  endScope(name: string): Promise<boolean>;
}
