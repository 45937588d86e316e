import * as z from 'zod/mini';
import { count, id, label } from '../base/fields.js';
import type { Collection, Storage } from './storage.js';

/** The fields of a message, by its id, that the SDK has and the service does not. */
export const sdkFields = z.object({ id, fields: z.record(label, z.unknown()) });
type SdkFields = z.infer<typeof sdkFields>;

/** What the SDK knows of a conversation, and how often it was stored. */
export const sdkState = z.object({
  id,
  state: z.custom<object>((given) => typeof given === 'object' && given !== null),
  revision: count,
});
type SdkState = z.infer<typeof sdkState>;

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
