import type { Collection, Storage } from './storage.js';

/** The fields of a message that the SDK has and the service does not. */
export interface SdkFields {
  /** Of the message. */
  id: string;
  fields: Record<string, unknown>;
}

/** What the SDK knows of a conversation, and how often it was stored. */
export interface SdkState {
  id: string;
  state: object;
  revision: number;
}

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
