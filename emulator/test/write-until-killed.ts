/** Writes to the given data directory and prints every acknowledged write, until it is killed. */
import { writeSync } from 'node:fs';
import { createEmulator } from '../src/index.js';

const [data = '', round = ''] = process.argv.slice(2);
const emulator = createEmulator({ data, limits: { gateway: 1e9, context: 1e9, compact: 1e9 } });
// One conversation per round: after every start, the emulator would have to process a long one again.
const { id: conversationId } = emulator.conversations.create({ id: `talk-${round}` });
const acknowledge = (kind: string, id: string, value: string): void => {
  writeSync(1, `${JSON.stringify({ kind, id, value })}\n`);
};
const send = async (path: string, sent: object, more: Record<string, string> = {}) => {
  const key = path.startsWith('/v1') ? emulator.apiKeys.secret : emulator.sessionToken;
  const headers = { authorization: `Bearer ${key}`, ...more };
  const body = sent instanceof FormData ? sent : JSON.stringify(sent);
  const response = await emulator.fetch(`http://emulator.test${path}`, { method: 'POST', body, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

for (let i = 0; ; i += 1) {
  const text = `${round}/${i} ${'words to be written '.repeat(i % 10)}`;
  const { memory } = await send('/api/memory', { type: 'fact', key: `k${i}`, content: text });
  acknowledge('memory', memory.id, text);

  const [message] = emulator.conversations.append(conversationId, [{ role: 'user', content: `We decided on ${text}` }]);
  acknowledge('message', message?.id ?? '', `We decided on ${text}`);

  const post = { action: 'post_message', channel: '#a', text };
  const done = await send('/v1/integrations/team-chat/execute', post, { 'idempotency-key': text });
  acknowledge('execution', done.id, text);

  const form = new FormData();
  form.set('purpose', 'x');
  form.set('file', new File([text], 'x'));
  acknowledge('file', (await send('/v1/files', form)).id, text);

  // Not in every round: loading the tokenizer for a compaction takes most of a round.
  if (Number(round) % 4 === 0 && i % 5 === 0) {
    await send('/api/context/compact', { conversationId, level: 'deep' });
    const version = emulator.conversations.summaryVersions(conversationId).at(-1)?.summary.version ?? 0;
    acknowledge('version', conversationId, String(version));
  }
}
