import { hashText } from './hash.js';
import { type ContextItem, itemsOf } from './items.js';
import type { ContextParts, ContextSection } from './prompt.js';

/** All lines from which a context can be selected. */
export interface Offer {
  from: readonly unknown[];
  items: readonly ContextItem[];
  /** A hash of the lines and the placement. */
  key: string;
}

interface OfferParams {
  parts: ContextParts;
  sections?: readonly ContextSection[] | undefined;
  placement?: string | undefined;
  previous?: { offer: Offer } | undefined;
}

/** Returns the previous offer if the parts are the same objects, which avoids building the lines again. */
export function offerOf({ parts, sections, placement, previous }: OfferParams): Offer {
  const { summary, pins, memory, recovered } = parts;
  const from = [summary, pins, memory, recovered, sections, placement];
  if (previous?.offer.from.every((part, i) => part === from[i]) === true) return previous.offer;
  const items = itemsOf(parts, sections);
  const lines = items.map(({ section, text }) => `${section}: ${text}`);
  return { from, items, key: hashText([placement, ...lines].join('\n')) };
}
