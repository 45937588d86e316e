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
const send = async (path: string, init: RequestInit & { headers?: Record<string, string> }, key: string) => {
  const headers = { authorization: `Bearer ${key}`, ...init.headers };
  const response = await emulator.fetch(`http://emulator.test${path}`, { ...init, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};
const { secret } = emulator.apiKeys;

for (let i = 0; ; i += 1) {
  const text = `${round}/${i} ${'words to be written '.repeat(i % 10)}`;
  const memory = JSON.stringify({ type: 'fact', key: `k${i}`, content: text });
  const made = await send('/api/memory', { method: 'POST', body: memory }, emulator.sessionToken);
  acknowledge('memory', made.memory.id, text);

  const [message] = emulator.conversations.append(conversationId, [{ role: 'user', content: `We decided on ${text}` }]);
  acknowledge('message', message?.id ?? '', `We decided on ${text}`);

  const post = JSON.stringify({ action: 'post_message', channel: '#a', text });
  const headers = { 'idempotency-key': text };
  const done = await send('/v1/integrations/team-chat/execute', { method: 'POST', body: post, headers }, secret);
  acknowledge('execution', done.id, text);

  const form = new FormData();
  form.set('purpose', 'x');
  form.set('file', new File([text], 'x'));
  acknowledge('file', (await send('/v1/files', { method: 'POST', body: form }, secret)).id, text);

  // Not in every round: loading the tokenizer for a compaction takes most of a round.
  if (Number(round) % 4 === 0 && i % 5 === 0) {
    const compaction = JSON.stringify({ conversationId, level: 'deep' });
    await send('/api/context/compact', { method: 'POST', body: compaction }, emulator.sessionToken);
    const version = emulator.conversations.summaryVersions(conversationId).at(-1)?.summary.version ?? 0;
    acknowledge('version', conversationId, String(version));
  }
}
