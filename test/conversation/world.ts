import {
  ContextClient,
  type ContextMetadata,
  GatewayClient,
  type PinnedMemoryItem,
  type RollingSummary,
  type UserMemoryItem,
} from 'context-gateway';
import {
  type Conversation,
  type ConversationMessage,
  type ConversationOptions,
  type ConversationStore,
  createConversation,
  memoryStore,
  textOf,
} from 'context-gateway/conversation';
import { createEmulator, type EmulatorOptions, type MessageInput } from 'context-gateway-emulator';
import { onTestFinished, vi } from 'vitest';
import { type Runtime, systemRuntime } from '../../src/base/runtime.js';
import { metadata, summary } from './samples.js';

/** The requests that can be counted. */
const PATHS = {
  context: 'GET /api/context',
  memory: 'GET /api/memory',
  compact: 'POST /api/context/compact',
  chat: 'POST /v1/chat/completions',
};

/** The body of a completion request. */
export interface SentPrompt {
  messages: { role: string; content: string }[];
  [field: string]: unknown;
}

/** An emulator in this process, both clients, and what they send. */
export function chatWorld(
  options: EmulatorOptions & { messages?: MessageInput[]; runtime?: Runtime | undefined } = {},
) {
  const { messages = [], runtime, ...emulatorOptions } = options;
  const emulator = createEmulator({ seed: 'chat', ...emulatorOptions });
  emulator.conversations.create({ id: 'talk', messages });
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
  const common = { baseURL: 'https://emulator.test', fetch: spy, maxRetries: 0, pacing: false };
  const gateway = new GatewayClient({ ...common, apiKey: emulator.apiKeys.secret }, undefined, runtime);
  const context = new ContextClient({ ...common, sessionToken: emulator.sessionToken }, undefined, runtime);
  const errors: unknown[] = [];
  const onRequest = (listener: typeof hook): void => {
    hook = listener;
  };
  onTestFinished(async () => {
    await Promise.all([gateway.close(), context.close()]);
    await emulator.close();
  });
  return {
    emulator,
    fetch: spy,
    gateway,
    context,
    prompts,
    /** What `onError` of its conversations got. */
    errors,
    count: (call: keyof typeof PATHS): number => calls.filter((name) => name === PATHS[call]).length,
    /** Runs before each request. It may wait, inspect the request, or return a response in place of the service. */
    onRequest,
    /** Lets a conversation read the context again, as it does after a write of its client. */
    reread: async (talk: Conversation): Promise<void> => {
      await context.include('talk', 'unknown').catch(() => {});
      await talk.prepare('Well?', { history: [] }); // stores nothing
    },
    /** Holds back all requests to a path until its gate is opened. */
    hold: (path: string) => {
      const held = gate();
      onRequest(({ url }) => (url.includes(path) ? held.passed : undefined));
      return held;
    },
    /** Responds to all requests to a path in place of the service. */
    answer: (path: string, body: unknown, init: ResponseInit): void =>
      onRequest(({ url }) => (url.includes(path) ? Response.json(body, init) : undefined)),
    /** Opens the conversation, with messages stored in memory or a store of its own. */
    open: ({
      history = [],
      ...more
    }: Partial<ConversationOptions> & { history?: readonly ConversationMessage[] } = {}) => {
      const store = more.store ?? memoryStore({ talk: history });
      stored.push(store);
      const onError = (error: unknown) => errors.push(error);
      return createConversation({
        context,
        gateway,
        conversationId: 'talk',
        model: 'atlas-small',
        onError,
        ...more,
        store,
      });
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
  world.onRequest(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/api/context/compact') return state.compact?.(request);
    if (pathname === '/api/memory' && state.memory !== undefined && request.method === 'GET') {
      return Response.json({ success: true, memories: state.memory });
    }
    if (pathname !== '/api/context') return undefined;
    if (state.failure !== undefined) return state.failure.clone();
    const { summary: rollingSummary = summary(), pins: pinnedMemory = [] } = state;
    const context = { rollingSummary, pinnedMemory, metadata: state.metadata ?? metadata() };
    await state.read?.();
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
  /** Runs between a read of the context and its response. */
  read?: () => unknown;
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

/** A conversation without a service's context, on a store that other processes (`open`) may use too. */
export function talkWith(store: ConversationStore, more: Partial<ConversationOptions> = {}, runtime?: Runtime) {
  const world = chatWorld({ runtime });
  const open = (its = elsewhere(store)) => world.open({ context: undefined, ...more, store: its });
  return { ...world, talk: open(store), open };
}

/** The same store in another process, whose turns do not wait for those of this one. */
export function elsewhere<Store extends ConversationStore>(store: Store): Store {
  return { ...store };
}

/** What a test moves itself, until it ends: timers, or the clock. */
export function faked(what: 'timers' | 'clock', now: Date | number = Date.now()): void {
  vi.useFakeTimers({ toFake: what === 'clock' ? ['Date'] : ['setTimeout', 'clearTimeout'], now });
  onTestFinished(() => void vi.useRealTimers());
}

/** A clock without the waits before an `append` that failed is made again. */
export const withoutWaits: Runtime = {
  ...systemRuntime,
  setTimer: (callback, ms) => systemRuntime.setTimer(callback, ms > 1_000 ? ms : 0),
};

export const textsIn = async (store: ConversationStore, id = 'talk'): Promise<string[]> =>
  ((await store.load(id))?.messages ?? []).map(textOf);

/** A word for each number. */
export const nameOf = (i: number): string => String(i).replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));

/** Messages of about ten tokens each. */
export function smallTalk(count: number, from = 0): (MessageInput & { id: string })[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `m${from + i}`,
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `Remark number ${from + i}, about the weather at sea today.`,
  }));
}
