import type { MessageRole } from '../../src/store/conversation-records.js';

/** The role that a name stands for in common exports, in lower case. */
export const ROLES: ReadonlyMap<string, MessageRole> = new Map([
  ...['user', 'human', 'you', 'me', 'customer', 'prompt'].map((name): [string, MessageRole] => [name, 'user']),
  ...['assistant', 'ai', 'bot', 'model', 'chatgpt', 'claude', 'gemini', 'copilot', 'agent', 'gpt', 'response'].map(
    (name): [string, MessageRole] => [name, 'assistant'],
  ),
  ...['system', 'developer'].map((name): [string, MessageRole] => [name, 'system']),
]);
