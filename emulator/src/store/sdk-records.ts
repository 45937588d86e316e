import * as z from 'zod/mini';
import { count, exact, id, label, maskedAs } from '../base/fields.js';
import { pinnedItem } from './conversation-records.js';
import type { Collection, Storage } from './storage.js';
import { rollingSummary, summaryItem } from './summary.js';

// What the SDK must find in a masked export. The rest is hidden.
const messageFields = z.object({
  role: label,
  content: z.array(z.object({ type: label })),
  tool_calls: z.array(z.object({ id: label, type: label })),
  tool_call_id: label,
  replyTo: label,
  reply: label,
  recalled: z.array(z.object({ id: label, match: label })),
  finish_reason: label,
  model: label,
});
const conversationState = z.object({
  lost: z.array(summaryItem),
  snapshot: z.object({
    summary: rollingSummary,
    pins: z.array(pinnedItem),
    metadata: z.object({ lastCompactionAt: label }),
  }),
  compaction: z.object({ last: z.object({ level: label }) }),
});

/** The fields of a message that the SDK has and the service does not. */
export interface SdkFields {
  /** Of the message. */
  id: string;
  fields: Record<string, unknown>;
}

export const sdkFields = exact<SdkFields>()(
  z.object({ id, fields: maskedAs(messageFields, z.record(z.string(), z.unknown())) }),
);

/** What the SDK knows of a conversation, and how often it was stored. */
export interface SdkState {
  id: string;
  state: object;
  revision: number;
}

export const sdkState = exact<SdkState>()(
  z.object({
    id,
    state: maskedAs(
      conversationState,
      z.custom<object>((given) => typeof given === 'object' && given !== null),
    ),
    revision: count,
  }),
);

/** What `emulatorStore` stores besides messages. */
export class SdkRecords {
  readonly states: Collection<SdkState>;

  constructor(private readonly storage: Storage) {
    this.states = storage.collection('sdk-states');
  }

  fields(conversationId: string): Collection<SdkFields> {
    return this.storage.collection(`sdk-fields/${conversationId}`);
  }
}
