import { type ChatMessage, ConfigurationError } from '../index.js';

/** A message of the app's own history, of the user or the assistant. */
export interface ConversationMessage extends ChatMessage {
  /** The service's id of it, if known: a pinned message is then not sent twice. */
  id?: string | undefined;
  /** Left out of what is sent. */
  excluded?: boolean | undefined;
  /** A reply that was stopped or broke off. */
  stopped?: boolean | undefined;
}

/** The input as messages. */
export function messagesOf(input: string | readonly ConversationMessage[]): readonly ConversationMessage[] {
  const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  checkMessages(messages, 'The input');
  if (messages.length === 0) throw new ConfigurationError('The input must not be empty.');
  return messages;
}

export function checkMessages(messages: unknown, name: string): asserts messages is readonly ConversationMessage[] {
  if (Array.isArray(messages) && messages.every(isMessage)) return;
  throw new ConfigurationError(
    `${name} must be messages of the user and the assistant, with text as content. Pass the system message as instructions.`,
  );
}

function isMessage(message: Partial<ConversationMessage> | null | undefined): boolean {
  return (message?.role === 'user' || message?.role === 'assistant') && typeof message.content === 'string';
}
