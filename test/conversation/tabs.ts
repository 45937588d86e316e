import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayClient } from 'context-gateway';
import {
  type AppendPlace,
  ConversationConflictError,
  type ConversationStore,
  ConversationStoreError,
  createConversation,
  type StoredMessage,
} from 'context-gateway/conversation';
import { createEmulator } from 'context-gateway-emulator';
import { type Runtime, systemRuntime } from '../../src/base/runtime.js';

/** What one tab did to the store, by its own account. */
export interface TabReport {
  /** Messages of turns that succeeded, and of those whose storing failed after the store had them. */
  stored: string[];
  /** Messages that its turns replaced: each was in the prompt's history when the turn began. */
  replaced: string[];
  conflicts: number;
  /** How often the disk failed. */
  failures: number;
  /** What must not happen. */
  wrong: string[];
}

/** A clock without the waits before an `append` that failed is made again. */
const withoutWaits: Runtime = {
  ...systemRuntime,
  setTimer: (callback, ms) => systemRuntime.setTimer(callback, ms > 1_000 ? ms : 0),
};

/** How a failing disk behaves: it fails before it stores, or after. */
const DISK_FULL = 0.1;
const DISK_LATE = 0.05;

/**
 * Plays turns of one tab in a conversation that other tabs change at the same time: sends, edits, regenerates, prepares and adds,
 * while it searches, excludes, forks and builds prompts. Its store fails now and then.
 */
export async function playTab(store: Required<ConversationStore>, turns: number, random: () => number) {
  const report: TabReport = { stored: [], replaced: [], conflicts: 0, failures: 0, wrong: [] };
  const emulator = createEmulator({ limits: { gateway: 1e6 } });
  let loaded: string[] = [];
  let seen: string[] = [];
  let sent = false;
  const watched: Required<ConversationStore> = {
    ...store,
    load: async (id) => {
      await sleep(random() * 3);
      const conversation = await store.load(id);
      loaded = (conversation?.messages ?? []).map((message) => String(message.id));
      return conversation;
    },
    append: async (id, messages, place) => {
      await sleep(random() * 3);
      const chance = random();
      if (chance < DISK_FULL + DISK_LATE) report.failures += 1;
      if (chance < DISK_FULL) throw new Error('The disk is full.');
      const added = await store.append(id, messages, place);
      if (id === 'talk') note(place, messages); // a fork is another conversation
      if (chance < DISK_FULL + DISK_LATE) throw new Error('The connection broke.');
      await sleep(random() * 3);
      return added;
    },
  };
  const note = ({ after }: AppendPlace, messages: readonly StoredMessage[]): void => {
    const given = messages.map(({ id }) => id);
    report.stored.push(...given);
    if (after === undefined) return; // nothing is replaced
    const replaced = seen.slice(after === null ? 0 : seen.indexOf(after) + 1);
    report.replaced.push(...replaced.filter((id) => !given.includes(id)));
  };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    sent = true;
    seen = loaded; // the turn has loaded, and nothing else has since
    void disturb().catch(() => {});
    await sleep(random() * 8);
    return emulator.fetch(new Request(input, init));
  };
  const options = { baseURL: 'https://emulator.test', apiKey: emulator.apiKeys.secret, pacing: false, fetch };
  const gateway = new GatewayClient(options, undefined, withoutWaits);
  const open = () => createConversation({ gateway, conversationId: 'talk', model: 'atlas-small', store: watched });
  const shared = open();
  const disturb = async (): Promise<unknown> => {
    const chance = random();
    if (chance < 0.2) return shared.search('harbour');
    if (chance < 0.4) return shared.prepare('Which harbour?', { history: [] });
    if (chance < 0.6) return shared.lost();
    const some = loaded[Math.floor(random() * loaded.length)];
    if (some === undefined) return undefined;
    if (chance < 0.75) return shared.exclude(some);
    return chance < 0.85 ? shared.fork(some) : undefined;
  };
  for (let turn = 0; turn < turns; turn += 1) {
    const talk = random() < 0.5 ? shared : open();
    const earlier = (await store.load('talk'))?.messages ?? [];
    const questions = earlier.filter(({ role }) => role === 'user');
    const { id } = questions[Math.floor(random() * questions.length)] ?? {};
    const question = id === undefined || id === null ? undefined : String(id);
    const chance = random();
    const text = `Harbour ${turn}?`;
    sent = false;
    try {
      if (question !== undefined && chance < 0.3) await talk.edit(question, text).final();
      else if (question !== undefined && chance < 0.5) await talk.regenerate().final();
      else if (chance < 0.6) await (await talk.prepare(text)).finish('Noted.');
      else if (chance < 0.7) await talk.add([{ role: 'assistant', content: text }]);
      else await talk.send(text);
    } catch (error) {
      if (ConversationConflictError.is(error)) report.conflicts += 1;
      else if (!ConversationStoreError.is(error) && !/messageId/.test(String(error))) report.wrong.push(String(error)); // another tab removed the question
      if (ConversationStoreError.is(error) && sent && error.turn?.text === undefined)
        report.wrong.push('an error without the reply');
    }
  }
  await gateway.close();
  await emulator.close();
  return report;
}

/** What was lost between tabs: messages that no tab knows to have replaced, and that are not there. */
export function lostBetween(reports: readonly TabReport[], present: readonly string[]): string[] {
  const replaced = new Set(reports.flatMap((report) => report.replaced));
  const there = new Set(present);
  return reports.flatMap(({ stored }) => stored.filter((id) => !there.has(id) && !replaced.has(id)));
}

/** Numbers from 0 to 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
