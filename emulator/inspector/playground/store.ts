import { signal } from '@preact/signals';
import type { ChatMessage } from 'context-gateway';
import { renderContext } from 'context-gateway/conversation';
import type { InspectedConversation } from '../../src/control/page/overview.js';
import { ask, conversationPath } from '../service/control.js';
import type { Run } from './run.js';

/** A message in the editor. Its number identifies it. */
export interface Draft extends ChatMessage {
  number: number;
}

/** What to take from a conversation: its context, or its messages. */
export type Source = 'context' | 'messages';

// Module state, so that the drafts survive a visit to another view.
export const drafts = signal<readonly Draft[]>([]);
export const model = signal('');
export const isStream = signal(true);
export const temperature = signal('');
export const maxTokens = signal('');
export const conversationId = signal('');
export const source = signal<Source>('context');
export const run = signal<Run | undefined>(undefined);
/** The messages of the last request, in which the evidence is. */
export const sent = signal<readonly ChatMessage[]>([]);

let numbers = 0;

/** Creates a draft. */
export function draft({ role, content }: ChatMessage): Draft {
  numbers += 1;
  return { role, content, number: numbers };
}

drafts.value = [draft({ role: 'user', content: '' })];

let choices = 0;

/**
 * Loads the messages of a conversation, or its context with the newest messages. Keeps the user's question as the last
 * draft. Until all is there nothing changes, so that what is sent is what is shown.
 */
export async function loadConversation(id: string, as: Source): Promise<void> {
  choices += 1;
  const choice = choices;
  const conversation = await ask<InspectedConversation>('GET', conversationPath(id, '/context'));
  if (choice !== choices) return; // the user has chosen again
  conversationId.value = id;
  source.value = as;
  const question = drafts.value.at(-1);
  const last = question?.role === 'user' ? question : draft({ role: 'user', content: '' });
  drafts.value = [...messagesOf(conversation, as).map(draft), last];
}

/** Opens a conversation, unless it is open already. */
export async function openConversation(id: string): Promise<void> {
  if (id !== conversationId.value) return loadConversation(id, source.value);
  choices += 1; // another one may still be loading
}

/** Leaves the conversation, but keeps the question. */
export function leaveConversation(): void {
  choices += 1;
  conversationId.value = '';
  const question = drafts.value.at(-1);
  drafts.value = [question?.role === 'user' ? question : draft({ role: 'user', content: '' })];
}

function messagesOf({ messages, rollingSummary, pinnedMemory }: InspectedConversation, as: Source): ChatMessage[] {
  const live = messages.filter(({ status }) => (as === 'context' ? status === 'recent' : status !== 'excluded'));
  const history = live.map(({ role, content }) => ({ role, content }));
  if (as === 'messages') return history;
  const context = renderContext({ summary: rollingSummary, pins: pinnedMemory });
  return context === '' ? history : [{ role: 'system', content: context }, ...history];
}
