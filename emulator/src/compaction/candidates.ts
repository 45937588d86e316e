import { hashText } from '../random.js';
import { contentTerms } from '../terms.js';
import { classify, revises } from './cues.js';
import { findReferences } from './references.js';
import { messageSentences, type SplitSentences } from './sentences.js';
import type { SummaryItem } from './summary.js';

/** A message, as far as compaction looks at it. */
export interface SourceMessage {
  id: string;
  role: string;
  content: string;
  createdAt: string;
}

/** An item that might go into the summary. */
export interface Candidate {
  item: SummaryItem;
  /** Strength of its wording. */
  weight: number;
  terms: ReadonlySet<string>;
  /** Takes an earlier decision back. */
  revises: boolean;
}

/** What one message has to offer. It depends on the message alone, so it may be remembered. */
export function messageCandidates(
  message: SourceMessage,
  text: { split: SplitSentences; countTokens: (text: string) => number },
): Candidate[] {
  const candidates: Candidate[] = [];
  const add = (
    item: Omit<SummaryItem, 'messageId' | 'tokens'>,
    weight: number,
    terms: ReadonlySet<string>,
    revising = false,
  ): void => {
    const written = [item.term, item.text, item.reason, item.label].filter(Boolean).join(' ');
    const tokens = text.countTokens(written) + TOKENS_PER_ITEM;
    candidates.push({ item: { ...item, messageId: message.id, tokens }, weight, terms, revises: revising });
  };

  for (const sentence of messageSentences(message.content, text.split)) {
    const cue = classify(sentence);
    if (cue === undefined) continue;
    const terms = new Set(contentTerms(sentence));
    const { section, weight, reason, term } = cue;
    if (section === 'decisions') {
      const id = `dec_${hashText([...terms].join(' '))}`;
      add(
        { section, text: cue.text ?? sentence, id, reason: reason ?? '', timestamp: message.createdAt },
        weight,
        terms,
        revises(sentence),
      );
    } else if (section === 'definitions') {
      add({ section, text: cue.text ?? sentence, term: term ?? '' }, weight, new Set(contentTerms(term ?? '')));
    } else {
      add({ section, text: sentence }, weight, terms);
    }
  }
  for (const { type, value, label } of findReferences(message.content)) {
    add(
      { section: 'importantReferences', text: value, type, label },
      type === 'value' ? 1 : 2,
      new Set([value.toLowerCase()]),
    );
  }
  return candidates;
}

/** The mark and the line end of one entry. */
const TOKENS_PER_ITEM = 2;
