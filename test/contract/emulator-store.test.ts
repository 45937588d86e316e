import { createConversation } from 'context-gateway/conversation';
import { emulatorStore } from 'context-gateway-emulator';
import { expect, test } from 'vitest';
import { emulatedService } from '../helpers/world.js';

const service = emulatedService({});
const { emulator } = service;
const open = (store = emulatorStore(emulator)) =>
  createConversation({
    gateway: service.gateway(),
    context: service.context(),
    model: 'atlas-small',
    conversationId: 'talk',
    store,
  });

test('a compaction has the turns, and another object finds all of it again', async () => {
  const store = emulatorStore(emulator);
  await open(store).send('We decided to write the export as Parquet because Arrow reads it fast.');

  for (let n = 0; n < 8; n += 1) await open(store).send(`Remark ${n} about the weather in the harbour town.`);

  await open(store).compact('aggressive');
  const { text, report } = await open(store).send('What did we decide to write?');

  expect(report.summaryVersion).toBe(1);
  expect(text).toContain('Parquet');
});

test('an edit removes what follows from the store, and excludes it at the service', async () => {
  const store = emulatorStore(emulator);
  const conversation = open(store);
  const { messages } = await conversation.send('We decided to write CSV.');

  await conversation.edit(String(messages[0]?.id), 'We decided to write Parquet.').final();
  await conversation.idle();

  expect(store.load('talk').messages.map(({ content }) => content)[0]).toBe('We decided to write Parquet.');
  expect(store.load('talk').messages).toHaveLength(2);
  await conversation.compact('light');
  expect(JSON.stringify(await service.context().summary('talk'))).not.toContain('CSV');
});
