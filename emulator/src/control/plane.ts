import type { Context, Hono } from 'hono';
import { parseJson, readBytes } from '../body.js';
import type { Clock } from '../clock.js';
import type { CompactionLevel } from '../compaction/compact.js';
import type { CompactionResult } from '../context-answers.js';
import { Refusal } from '../errors.js';
import type { Faults } from '../faults.js';
import type { EmulatorModel } from '../models.js';
import type { InspectedConversation, Overview } from '../overview.js';
import type { RequestRecord } from '../request-log.js';
import type { EmulatorState } from '../state.js';
import type { Account } from '../store/account.js';
import type { ApiKeys } from '../store/api-keys.js';
import type { Conversations } from '../store/conversations.js';
import type { Files } from '../store/files.js';
import type { Integrations } from '../store/integrations.js';
import type { Sessions } from '../store/sessions.js';
import type { Workspaces } from '../store/workspaces.js';

/** What the control plane needs of an emulator. */
export interface ControlledEmulator {
  readonly account: Account;
  readonly apiKeys: ApiKeys;
  readonly sessions: Sessions;
  readonly workspaces: Workspaces;
  readonly conversations: Conversations;
  readonly files: Files;
  readonly integrations: Integrations;
  readonly models: readonly EmulatorModel[];
  readonly faults: Faults;
  readonly clock: Clock;
  recentRequests(limit: number, after?: string | undefined): RequestRecord[];
  overview(): Overview;
  inspect(conversationId: string): Promise<InspectedConversation | undefined>;
  compact(conversationId: string, level: CompactionLevel): Promise<CompactionResult | undefined>;
  state(): EmulatorState;
  restore(state: EmulatorState): void;
  reset(): void;
}

/** The app of the control plane. */
export type Plane = Hono;

/** The JSON body of a control request; an empty one is `{}`. */
export async function bodyOf(c: Context): Promise<unknown> {
  return parseJson(new TextDecoder().decode(await readBytes(c.req.raw, BODY_LIMIT, 'body')) || '{}');
}

/** The record, or a 404. */
export function found<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw new Refusal(404, `there is no such ${what}`);
  return record;
}

const BODY_LIMIT = 256 * 1024 * 1024;
