import {
  ContextClient,
  type ContextMetadata,
  GatewayClient,
  type PinnedMemoryItem,
  type RollingSummary,
  type UserMemoryItem,
} from 'context-gateway';
import {
  ConversationConflictError,
  type ConversationMessage,
  type ConversationOptions,
  type ConversationState,
  type ConversationStore,
  createConversation,
  memoryStore,
  type StoredRow,
} from 'context-gateway/conversation';
import { createEmulator, type EmulatorOptions, type MessageInput } from 'context-gateway-emulator';
import { onTestFinished } from 'vitest';
import { metadata, summary } from './samples.js';

/** The requests that can be counted. */
type Call = 'context' | 'memory' | 'compact' | 'chat';

/** The body of a completion request. */
export interface SentPrompt {
  messages: { role: string; content: string }[];
  [field: string]: unknown;
}

/** An emulator in this process, both clients, and what they send. */
export function chatWorld(options: EmulatorOptions & { messages?: MessageInput[] } = {}) {
  const { messages = [], ...emulatorOptions } = options;
  const emulator = createEmulator({ seed: 'chat', ...emulatorOptions });
  const record = emulator.conversations.create({ id: 'talk', messages });
  const prompts: SentPrompt[] = [];
  const calls: string[] = [];
  const stored: ConversationStore[] = [];
  /** Runs before the emulator handles a request. */
  let hook: ((request: Request) => unknown) | undefined;
  const spy: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    calls.push(`${request.method} ${pathname}`);
    if (pathname === '/v1/chat/completions') prompts.push(await request.clone().json());
    const answer = await hook?.(request);
    return answer instanceof Response ? answer : emulator.fetch(request);
  };
  const gateway = new GatewayClient({
    baseURL: 'https://emulator.test',
    apiKey: emulator.apiKeys.secret,
    fetch: spy,
    maxRetries: 0,
    pacing: false,
  });
  const context = new ContextClient({
    baseURL: 'https://emulator.test',
    sessionToken: emulator.sessionToken,
    fetch: spy,
    maxRetries: 0,
    pacing: false,
  });
  onTestFinished(async () => {
    await Promise.all([gateway.close(), context.close()]);
    await emulator.close();
  });
  const paths: Record<Call, string> = {
    context: 'GET /api/context',
    memory: 'GET /api/memory',
    compact: 'POST /api/context/compact',
    chat: 'POST /v1/chat/completions',
  };
  return {
    emulator,
    gateway,
    context,
    prompts,
    record,
    session: { authorization: `Bearer ${emulator.sessionToken}` },
    count: (call: Call): number => calls.filter((name) => name === paths[call]).length,
    /** Runs before each request. It may wait, inspect the request, or return a response in place of the service. */
    onRequest: (listener: (request: Request) => unknown): void => {
      hook = listener;
    },
    /** Opens the conversation, with messages stored in memory or a store of its own. */
    open: ({
      history = [],
      ...more
    }: Partial<ConversationOptions> & { history?: readonly ConversationMessage[] } = {}) => {
      const store = more.store ?? memoryStore({ talk: history });
      stored.push(store);
      return createConversation({ context, gateway, conversationId: 'talk', model: 'atlas-small', ...more, store });
    },
    /** What the conversation opened last has stored: roles and texts. */
    stored: async () => {
      const loaded = await stored.at(-1)?.load('talk');
      return (loaded?.messages ?? []).map(({ id: _, createdAt: __, replyTo: ___, ...message }) => message);
    },
  };
}

/** Replaces the context of the service with a canned one, whose fields may be changed at any time. */
export function cannedContext(world: Pick<ReturnType<typeof chatWorld>, 'onRequest'>, parts: CannedContext = {}) {
  const state: CannedContext = { ...parts };
  world.onRequest((request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/api/context/compact') return state.compact?.(request);
    if (pathname === '/api/memory' && state.memory !== undefined && request.method === 'GET') {
      return Response.json({ success: true, memories: state.memory });
    }
    if (pathname !== '/api/context') return undefined;
    if (state.failure !== undefined) return state.failure.clone();
    const context = {
      rollingSummary: state.summary ?? summary(),
      pinnedMemory: state.pins ?? [],
      metadata: state.metadata ?? metadata(),
    };
    return Response.json({ success: true, context });
  });
  return state;
}

interface CannedContext {
  summary?: RollingSummary;
  pins?: PinnedMemoryItem[];
  memory?: UserMemoryItem[];
  metadata?: ContextMetadata;
  /** The response to every read instead of the context. */
  failure?: Response;
  compact?: (request: Request) => unknown;
}

/** A promise that a test resolves by hand. */
export function gate() {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

export const user = (content: string, id?: string): ConversationMessage => ({ role: 'user', content, id });
export const assistant = (content: string, id?: string): ConversationMessage => ({ role: 'assistant', content, id });

/** A conversation without a service's context, on a store that other tabs may use too. */
export function talkWith(store: ConversationStore, more: Partial<ConversationOptions> = {}) {
  const world = chatWorld();
  const { gateway } = world;
  const open = () => createConversation({ gateway, conversationId: 'talk', model: 'atlas-small', ...more, store });
  return { ...world, talk: open(), open };
}

export const textsIn = async (store: ConversationStore, id = 'talk'): Promise<string[]> =>
  ((await store.load(id))?.messages ?? []).map(({ content }) => content);

/** Messages of about ten tokens each. */
export function smallTalk(count: number, from = 0): (MessageInput & { id: string })[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `m${from + i}`,
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `Remark number ${from + i}, about the weather at sea today.`,
  }));
}

/** A database that makes the ids itself, as numbers. */
export function numberingStore(
  talks: Readonly<Record<string, readonly ConversationMessage[]>> = {},
  toId: (id: number) => number | bigint = Number,
): Required<ConversationStore> {
  let next = 1;
  const withIds = (messages: readonly ConversationMessage[]): StoredRow[] =>
    messages.map((message) => ({ ...message, id: toId(next++) }));
  const rowsOf = new Map(Object.entries(talks).map(([id, messages]) => [id, withIds(messages)]));
  const states = new Map<string, ConversationState>();
  const idOf = (row: StoredRow | undefined) => (row === undefined ? undefined : String(row.id));
  return {
    load: (id) => ({ messages: [...(rowsOf.get(id) ?? [])], state: states.get(id) }),
    saveState: (id, state) => void states.set(id, state),
    append: (id, messages, { after, newest }) => {
      const rows = rowsOf.get(id) ?? [];
      if (idOf(rows.at(-1)) !== newest) throw new ConversationConflictError();
      const added = withIds(messages);
      rowsOf.set(id, [...rows.slice(0, rows.findIndex((row) => idOf(row) === after) + 1), ...added]);
      return added.map((row) => row.id as number);
    },
  };
}
