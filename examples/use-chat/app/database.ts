import { memoryStore } from 'context-gateway/conversation';

// In place of your database. Global, because Next.js loads this module twice: for pages and for routes.
const shared = globalThis as { store?: ReturnType<typeof memoryStore> };
shared.store ??= memoryStore();
export const { store } = shared;
