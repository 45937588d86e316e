import type { ChatMessage } from '../index.js';

/** A message of the app's own history. */
export interface ConversationMessage extends ChatMessage {
  /** The service's id of it, if known: a pinned message is then not sent twice. */
  id?: string | undefined;
  /** Left out of what is sent. */
  excluded?: boolean | undefined;
  /** A reply that was stopped or broke off. */
  stopped?: boolean | undefined;
}
