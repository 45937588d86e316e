/** Takes the screenshots of the README: `npx tsx emulator/scripts/screenshots.ts`. */
import { writeFileSync } from 'node:fs';
import { readTranscript } from '../inspector/conversations/transcript.js';
import { createEmulator, type Emulator, type RequestRecord } from '../src/index.js';
import { BrowserPage } from '../test/browser-page.js';
import { onPage } from '../test/page.js';
import { TRANSCRIPT } from '../test/support.js';

const WIDTH = 1280;

const emulator = createEmulator({ seed: 'screenshots', now: '2026-03-02T09:30:00Z' });
emulator.conversations.create({ id: 'invoice-export', messages: readTranscript(TRANSCRIPT) });
const { url } = await emulator.listen({ port: 4010 });
const browser = await BrowserPage.start(WIDTH, 900);
const { click, type, reads, sees, go } = onPage(browser);

await browser.open(`${url}/_emulator#/conversation/invoice-export`);
await sees('.tokens .gauge');
await keep('before', 880);
await click('#compact-deep');
await reads('What the deep compaction did');
await keep('after', 1060);

await go('playground/invoice-export');
await reads('Background from earlier');
await type('#question', 'What did we decide to write?');
await click('#send');
await reads('finish reason stop');
await keep('playground', 900);

await doSomeWork(emulator);
await go('requests');
await browser.until("document.querySelectorAll('.log li').length >= 8");
await go(`requests/${emulator.requests.find(isStreamOfProgram)?.requestId}`);
await reads('data: [DONE]');
await keep('requests', 900);
await go(`requests/${emulator.requests.find(({ attempt }) => attempt !== undefined)?.requestId}`);
await reads('2 attempts of one call');
await keep('attempts', 900);
await go('service/keys');
await sees('#keys');
await keep('service', 900);
await go('faults');
await click('[id="fault-Gateway busy"]');
await sees('#faults');
await keep('faults', 900);
emulator.faults.clear();
emulator.chat.on('weather', 'It will rain.');
await go('answers');
await click('#addReply summary');
await sees('#replies');
await keep('answers', 900);

await browser.close();
await emulator.close();

async function keep(name: string, height: number): Promise<void> {
  await browser.resize(WIDTH, height);
  // Wait for the animation of the gauges.
  await new Promise((resolve) => setTimeout(resolve, 800));
  await browser.evaluate('document.activeElement?.blur()');
  writeFileSync(new URL(`../docs/${name}.png`, import.meta.url), await browser.screenshot());
}

function isStreamOfProgram({ events, caller }: RequestRecord): boolean {
  return events !== undefined && caller === 'first secret key';
}

/** Sends requests of many kinds, and advances the clock between the events of a stream. */
async function doSomeWork({ fetch, apiKeys, sessionToken, clock, faults }: Emulator): Promise<void> {
  const open = (path: string, token: string, body?: object, more: object = {}): Promise<Response> =>
    fetch(`http://emulator.test${path}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${token}`, ...more },
    });
  const send = async (...request: Parameters<typeof open>): Promise<string> => (await open(...request)).text();
  const messages = [{ role: 'user', content: 'The harbour opens at six. When does the harbour open?' }];
  await send('/v1/presets', apiKeys.secret);
  clock.advance(2400);
  await send('/v1/chat/completions', apiKeys.publishable, { model: 'birch-small', messages });
  clock.advance(700);
  const { body } = await open('/v1/chat/completions', apiKeys.secret, { model: 'atlas-small', stream: true, messages });
  const reader = body?.getReader();
  while (reader !== undefined && !(await reader.read()).done) clock.advance(38);
  clock.advance(1300);
  await send('/api/context?conversationId=invoice-export', sessionToken);
  faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 503 } });
  await send('/v1/chat/completions', apiKeys.secret, { model: 'atlas-small', messages });
  clock.advance(900);
  const retry = { 'x-call-attempt': '4f0c2a-1.2' }; // as the SDK says
  await send('/v1/chat/completions', apiKeys.secret, { model: 'atlas-small', messages }, retry);
  await send('/v1/presets/unknown/execute', apiKeys.secret, { model: 'atlas-small', input: 'x' });
}
