import { hashText } from '../random.js';
import { contentTerms } from '../terms.js';
import { type Cue, classify, revises } from './cues.js';
import { type PlainSentence, passages, plainText } from './plain.js';
import { findReferences } from './references.js';
import { isQuestion, messageSentences, type SplitSentences } from './sentences.js';
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
  /** Strength of its wording: 0 for a passage without a cue, 3 for one that says outright what it is. */
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

  // Sentences without a strong cue stay together until one with a cue, or a question, stands between them.
  const runs: PlainSentence[][] = [[]];
  for (const sentence of messageSentences(message.content, text.split)) {
    const cue = classify(sentence);
    if (cue === undefined || isFaint(cue)) {
      const plain = plainText(sentence);
      if (isQuestion(sentence)) runs.push([]);
      else if (plain !== undefined) runs.at(-1)?.push({ text: plain, section: cue?.section });
      continue;
    }
    runs.push([]);
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
  for (const { section, text: passage, weight } of passages(runs)) {
    add({ section, text: passage }, weight, new Set(contentTerms(passage)));
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

/** A hint at a section, too weak to tear the sentence out of what was said around it. */
function isFaint({ section, weight }: Cue): boolean {
  return weight < 2 && (section === 'goals' || section === 'requirements' || section === 'currentPlan');
}

/** The mark and the line end of one entry. */
const TOKENS_PER_ITEM = 2;
