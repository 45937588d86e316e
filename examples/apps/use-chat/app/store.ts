import { memoryStore } from 'context-gateway/conversation';

// For the first try. Then: your database. Next loads this module twice, for pages and for routes.
const shared = globalThis as { store?: ReturnType<typeof memoryStore> };
shared.store ??= memoryStore();
export const { store } = shared;
