import { type ChatMessage, ConfigurationError } from '../index.js';

/** A message from the user or the assistant in the app's own history. */
export interface ConversationMessage extends ChatMessage {
  /** The service's id of the message, if known. Prevents sending a pinned message twice. */
  id?: string | undefined;
  /** Whether to leave the message out of prompts. */
  excluded?: boolean | undefined;
  /** Whether the message is a reply that was stopped or cut off. */
  stopped?: boolean | undefined;
}

/** Converts the input to messages. */
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
