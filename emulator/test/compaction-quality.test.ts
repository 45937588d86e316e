import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contextTokens } from '../src/context/compaction/compact.js';
import { itemWords } from '../src/context/compaction/offers.js';
import { compactable, compactSync, LEVELS } from './compactable.js';

const RULES: { text: string }[] = JSON.parse(readFileSync(new URL('data/rules.json', import.meta.url), 'utf8'));

test.each(LEVELS)(
  'at the %s level, a summary keeps more rules than the newest or the first messages would',
  (level) => {
    const contents = RULES.flatMap(({ text }, i) => [
      `The crew of station ${i} was on the phone again. ${text} It rained on pole ${i}.`,
      `Station ${i} is quiet since noon, and the van with crate ${i * 7} is on its way.`,
    ]);
    const messages = compactable(contents);
    const kept = (texts: readonly string[]) =>
      RULES.filter(({ text }) => texts.some((one) => one.includes(text))).length;
    const thatFit = (order: readonly number[], limit: number) => {
      let left = limit;
      const isIn = (at: number): boolean => {
        left -= messages[at]?.tokens ?? 0;
        return left >= 0;
      };
      return order.filter(isIn).map((at) => contents[at] ?? '');
    };

    const { items, folded } = compactSync(messages, level);

    const left = contextTokens(
      messages.map((message, i) => ({ ...message, summarized: i < folded })),
      items,
    );
    const own = kept([...items.map(itemWords), ...contents.slice(folded)]);
    const order = [...contents.keys()];
    expect(own).toBeGreaterThan(kept(thatFit(order, left)));
    expect(own).toBeGreaterThan(kept(thatFit(order.reverse(), left)));
  },
);
