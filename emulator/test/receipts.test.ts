import { readFileSync } from 'node:fs';
import { ContextClient, GatewayClient } from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { conversation as ferries } from '../../examples/demo/conversation.js';
import { statementIn } from '../src/context/compaction/cues.js';
import { type Emulator, emulatorStore, type InspectedConversation, type MessageInput } from '../src/index.js';
import { testEmulator } from './support.js';

const RULES: { text: string; section: string }[] = JSON.parse(
  readFileSync(new URL('data/rules.json', import.meta.url), 'utf8'),
);
/** The rules that are in words of the table of cues. */
const RECOGNISED = RULES.filter(({ text }) => statementIn(text) !== undefined);
const LEVELS = ['light', 'deep', 'aggressive'] as const;

/** A rule in every second message, between talk. */
const meters = RULES.flatMap(({ text }, i): MessageInput[] => {
  const said = `The crew of station ${i} was on the phone again this morning. ${text} It rained on pole ${i}.`;
  const content = `Station ${i} has been quiet since noon, and the van with crate ${i * 7} is on its way.`;
  return [
    { role: 'user', content: said },
    { role: 'assistant', content },
  ];
});

const look = async (emulator: Emulator): Promise<InspectedConversation> =>
  (await emulator.inspect('talk')) as InspectedConversation;

/** What a reader finds in the context: texts of the summary, and of the messages that are kept in full. */
function contextOf({ rollingSummary, messages }: InspectedConversation): string {
  const { definitions, ...rest } = rollingSummary;
  const meanings = Object.entries(definitions).flatMap(([term, meaning]) => [
    `${term} means ${meaning}.`,
    `A ${term} is ${meaning}.`,
  ]);
  const full = messages.filter(({ status }) => status === 'recent' || status === 'pinned');
  return JSON.stringify([rest, meanings, full.map(({ content }) => content)]).toLowerCase();
}

test.each(LEVELS)(
  'at the %s level, each rule is kept where it stands in the context, and lost elsewhere',
  async (level) => {
    const emulator = testEmulator();
    emulator.conversations.create({ id: 'talk', messages: meters });
    await emulator.compact('talk', level);
    const after = await look(emulator);

    const { kept = [], lost = [] } = after.receipt ?? {};

    const context = contextOf(after);
    const isIn = (list: typeof kept, rule: string) => list.some(({ text }) => rule.includes(text.replace(/\.$/, '')));
    expect(RECOGNISED.length).toBeGreaterThan(12);
    for (const { text } of RECOGNISED) {
      expect(isIn(kept, text), text).toBe(context.includes(text.toLowerCase()));
      expect(isIn(lost, text), text).toBe(!isIn(kept, text));
    }
  },
);

test.each(LEVELS)('at the %s level, the receipt counts the messages that the inspector counts', async (level) => {
  for (const messages of [ferries, meters]) {
    const emulator = testEmulator();
    emulator.conversations.create({ id: 'talk', messages });
    const { fetch, sessionToken, apiKeys } = emulator;
    const baseURL = 'http://localhost';
    await using context = new ContextClient({ baseURL, sessionToken, fetch });
    await using gateway = new GatewayClient({ baseURL, apiKey: apiKeys.secret, fetch });
    const options = { conversationId: 'talk', model: 'atlas-small', store: emulatorStore(emulator) };
    await using talk = createConversation({ ...options, context, gateway });

    const { onlyInHistory } = await talk.compact(level);

    const gone = (await look(emulator)).receipt?.messages.gone;
    expect(onlyInHistory).toBe(gone);
    if (level === 'aggressive') expect(gone).toBeGreaterThan(10);
  }
});
