import type { Context, Hono } from 'hono';
import { parseJson } from '../base/checked.js';
import type { Clock } from '../base/clock.js';
import { Refusal } from '../base/errors.js';
import type { EmulatorModel } from '../base/models.js';
import type { CompactionResult } from '../context/answers.js';
import type { CompactionLevel } from '../context/compaction/compact.js';
import type { Faults } from '../faults/faults.js';
import { readBytes } from '../http/body.js';
import type { RequestRecord } from '../http/request-log.js';
import type { Stores } from '../store/stores.js';
import type { InspectedConversation, Overview } from './overview.js';
import type { EmulatorState } from './state.js';

/** What the control plane needs of an emulator. */
export interface ControlledEmulator
  extends Pick<Stores, 'account' | 'apiKeys' | 'sessions' | 'workspaces' | 'conversations' | 'files' | 'integrations'> {
  readonly models: readonly EmulatorModel[];
  readonly faults: Faults;
  readonly clock: Clock;
  recentRequests(limit: number, after?: string | undefined): RequestRecord[];
  overview(search?: string | undefined): Overview;
  /** Move the clock, and tell those who watch. */
  advanceClock(ms: number): void;
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
