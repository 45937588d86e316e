import { expect, test } from 'vitest';
import { AT_LENGTH, atLength } from '../../test/helpers/endurance.js';
import { manualClock } from '../src/base/clock.js';
import { ConversationContexts } from '../src/context/conversation-context.js';
import { resolveSettings } from '../src/options.js';
import { MemoryStorage } from '../src/store/storage.js';
import { createStores, initializeStores } from '../src/store/stores.js';
import { type Language, LanguageLoader } from '../src/text/language.js';
import { callsTo, testEmulator } from './support.js';

test.runIf(AT_LENGTH)('the request log keeps 64 KB of a body of 4 MB', async () => {
  const emulator = testEmulator({ limits: { gateway: 1e6 } });
  const { gateway } = callsTo(emulator);
  const large = { model: 'atlas-small', messages: 'x'.repeat(4 * 1024 * 1024) };
  await gateway('POST', '/v1/chat/completions', large);
  const before = process.memoryUsage().arrayBuffers;

  for (let i = 0; i < 40; i += 1) expect((await gateway('POST', '/v1/chat/completions', large)).status).toBe(400);

  // Some garbage may still be counted. If the log kept whole bodies, it would be 160 MB.
  await new Promise((resolve) => setTimeout(resolve, 50));
  globalThis.gc?.();
  expect(emulator.requests.at(-1)?.body).toHaveLength(64 * 1024);
  expect((process.memoryUsage().arrayBuffers - before) / 1024 / 1024).toBeLessThan(100);
});

test('the tokens of a message are counted once, also in a long conversation', async () => {
  const real = new LanguageLoader().load();
  let counted = 0;
  const language: Language = {
    ...real,
    countTokens: (text) => {
      counted += 1;
      return real.countTokens(text);
    },
    *countingTokens(text) {
      counted += 1;
      return yield* real.countingTokens(text);
    },
  };
  const clock = manualClock();
  const stores = createStores(new MemoryStorage(), resolveSettings({ clock }));
  initializeStores(stores, { seed: 'tokens', isKnown: true }, () => {});
  const contexts = new ConversationContexts({
    conversations: stores.conversations,
    // ConversationContexts only calls `load`.
    language: { load: () => language } as LanguageLoader,
    ids: stores.ids,
    clock,
    summarizer: undefined,
  });
  const length = atLength(10_000, 60_000);
  const messages = Array.from({ length }, (_, i) => ({ role: 'user' as const, content: `message ${i}` }));
  stores.conversations.create({ id: 'long', messages });

  const first = await contexts.metadata('long');
  const again = await contexts.metadata('long');

  expect(again).toEqual(first);
  expect(counted).toBe(length);
  stores.conversations.append('long', [{ role: 'user', content: 'one more' }]);
  await contexts.metadata('long');
  expect(counted).toBe(length + 1);
});
