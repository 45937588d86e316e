import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { baselines } from '../scripts/quality/baselines.js';
import { compacted } from '../scripts/quality/engine.js';
import { survival } from '../scripts/quality/meeting.js';
import { contentTerms } from '../src/text/terms.js';
import { language } from './compactable.js';

const RULES: { text: string }[] = JSON.parse(readFileSync(new URL('data/rules.json', import.meta.url), 'utf8'));

/** The short version of scripts/compaction-quality.ts, which needs recorded meetings. */
test.each(['light', 'deep', 'aggressive'] as const)('at the %s level, no simpler way keeps more rules', (level) => {
  const messages = RULES.flatMap(({ text }, i) => [
    { role: 'user', content: `The crew of station ${i} was on the phone again. ${text} It rained on pole ${i}.` },
    { role: 'assistant', content: `Station ${i} is quiet since noon, and the van with crate ${i * 7} is on its way.` },
  ]).map((message, i) => ({ ...message, id: `m${i}`, createdAt: '' }));
  const { kept, tokens } = compacted(messages, level, language);
  const evidence = RULES.map(({ text }) => new Set(contentTerms(text)));

  const own = survival(evidence, kept);

  const contents = messages.map(({ content }) => content);
  for (const { name, keep } of baselines(language)) {
    expect(own, name).toBeGreaterThanOrEqual(survival(evidence, keep(contents, tokens)));
  }
});
