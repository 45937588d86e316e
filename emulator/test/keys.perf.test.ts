import { expect, test } from 'vitest';
import { redact } from '../src/base/redact.js';
import { EventScanner } from '../src/base/redact-events.js';
import { secretsFrom } from '../src/base/secrets.js';
import { callsTo, testEmulator } from './support.js';
import { threadTime } from './thread-time.js';

/** Texts that begin keys again and again. */
const UNITS = [
  'sk-',
  'hf_sk-eyJ.AIza-',
  '://',
  '://a:',
  'a:b@',
  'Bearer ',
  'bearer-',
  '\\',
  '%25',
  '\\u00',
  'a',
  'aab',
  'eyJaaaa.',
];
/** Secrets that fit nearly everywhere. */
const SECRETS = [
  [],
  ['a'.repeat(8000)],
  [`${'a'.repeat(7999)}b`],
  Array.from({ length: 1500 }, (_, i) => `aaaa${i}aaaa`),
];

test.each(SECRETS.map((texts) => ({ texts, what: `${texts.length} secrets of ${texts[0]?.length ?? 0} characters` })))(
  'hiding keys takes less than a microsecond a character, whatever the text and $what',
  ({ texts }) => {
    const secrets = secretsFrom(texts);
    const now = threadTime();
    for (const unit of UNITS) {
      const text = unit.repeat(200_000 / unit.length);
      const start = now();
      redact(text, secrets);
      const whole = now() - start;
      const scanner = new EventScanner(secrets, 64 * 1024);
      const events =
        text
          .slice(0, 20_000)
          .match(/.{1,2}/g)
          ?.map((piece) => event(piece)) ?? [];
      for (const one of events) scanner.push(one);
      scanner.end(true);

      expect(whole, unit).toBeLessThan(200);
      expect(now() - start - whole, unit).toBeLessThan(1000);
    }
  },
);

const event = (text: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;

test('a masked case of 20,000 names that are alike takes less than 1 s', async () => {
  const emulator = testEmulator();
  const messages = Array.from({ length: 20_000 }, (_, i) => ({
    id: `m ${String(i).padStart(5, '0')}`,
    role: 'user' as const,
    content: 'x',
  }));
  emulator.conversations.create({ id: 'talk', messages });
  const now = threadTime();
  const start = now();

  const { body } = await callsTo(emulator).control('GET', '/case?mask=keys,prompts');

  expect(now() - start).toBeLessThan(1000);
  expect(new Set(body.state.conversations.at(-1).messages.map(({ id }: { id: string }) => id)).size).toBe(20_000);
});
