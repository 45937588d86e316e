import type { ConversationMessage } from '../model.js';
import type { WantedMessages } from '../store.js';

/** Messages by their positions in the conversation. `undefined` for those that are not loaded. */
export type Loaded = readonly (ConversationMessage | undefined)[];

/** The messages of a conversation, of which a search loads what it needs. */
export interface Archive {
  readonly messages: Loaded;
  /** Loads some more, if not all are loaded. */
  load(wanted: Partial<WantedMessages>): Promise<void>;
}

/** An archive whose messages are all loaded. */
export function archiveOf(messages: Loaded): Archive {
  return { messages, load: async () => {} };
}
