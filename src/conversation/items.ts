import { compare, entriesOf, isBinding, type SummaryEntry } from './entries.js';
import type { ConversationMessage } from './messages.js';
import type { ContextParts, ContextSection, Recovered } from './prompt.js';
import { MEMORY_SECTIONS, SECTIONS } from './sections.js';
import { termsOf } from './terms.js';

/** One line of the rendered context. */
export interface ContextItem {
  section: ContextSection;
  text: string;
  /** Identifies the line from turn to turn. */
  key: string;
  /** The id of the memory item, the pin or the decision. */
  id?: string | undefined;
  messageId?: string | undefined;
  /** The statement or passage that the line recovers. */
  recovered?: Recovered | undefined;
  terms: ReadonlySet<string>;
  /** Must not be dropped: if it does not fit, building the prompt fails. */
  required: boolean;
  /** Sent only if the question asks for it, such as past goals and plans. */
  onRequest: boolean;
}

const REQUIRED: ReadonlySet<ContextSection> = new Set(['constraints', 'requirements', 'pinnedMemory']);

/**
 * Lists every line of the context, in the order of the sections. Equal data gives equal lines: their texts contain no
 * ids and no times.
 */
export function itemsOf(parts: ContextParts, sections: readonly ContextSection[] = SECTIONS): ContextItem[] {
  const { summary, pins = [], memory = [], recovered = [] } = parts;
  const items: ContextItem[] = [];
  const add = (section: ContextSection, text: string, more: Partial<ContextItem> = {}): void => {
    if (sections.includes(section) && text.trim() !== '') items.push(itemOf(section, text, more));
  };
  for (const item of [...memory].sort((a, b) => compare(a.key, b.key))) {
    if (item.isActive !== false) add(memorySection(item.type), `${item.key}: ${item.content}`, { id: item.id });
  }
  if (summary !== undefined) {
    for (const entry of entriesOf(summary)) add(entry.section, lineOf(entry), { id: entry.id });
    for (const text of summary.openQuestions) add('openQuestions', text);
    for (const { value, label } of summary.importantReferences) {
      add('importantReferences', lineOf({ text: value, reason: label }));
    }
  }
  for (const { id, messageId, content } of pins) add('pinnedMemory', content, { id, messageId });
  for (const entry of recovered) {
    add('recovered', lineOf(entry), { id: entry.id, recovered: entry, onRequest: !isBinding(entry) });
  }
  return items.sort((a, b) => SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section));
}

/**
 * Splits a message that is no longer sent into passages of a few sentences. Sent only if the question asks for them.
 */
export function passagesOf({ content }: ConversationMessage, most: number): ContextItem[] {
  return passages(content)
    .slice(0, most)
    .map((text) => itemOf('recovered', text, { recovered: { section: 'history', text }, onRequest: true }));
}

function passages(content: string): string[] {
  const found: string[] = [];
  for (const line of content.split('\n')) {
    let passage = '';
    for (const sentence of line.match(/[^.!?。!?]+[.!?。!?\s]*|[.!?。!?\s]+/g) ?? []) {
      if (passage !== '' && passage.length + sentence.length > LONGEST_PASSAGE) {
        found.push(passage);
        passage = '';
      }
      passage += sentence;
    }
    found.push(passage);
  }
  return found.map((text) => text.trim()).filter((text) => text !== '' && text.length <= 4 * LONGEST_PASSAGE);
}

/** Characters; about sixty words. */
const LONGEST_PASSAGE = 360;

function itemOf(section: ContextSection, text: string, more: Partial<ContextItem>): ContextItem {
  return {
    section,
    text,
    key: `${section}: ${text}`,
    terms: termsOf(text),
    required: REQUIRED.has(section),
    onRequest: false,
    ...more,
  };
}

/** The section for a type of memory. Undocumented types are facts. */
export function memorySection(type: string): ContextSection {
  return MEMORY_SECTIONS.find((section) => section === `${type}s`) ?? 'facts';
}

function lineOf({ text, term, reason = '' }: Pick<SummaryEntry, 'text' | 'term' | 'reason'>): string {
  const said = term === undefined ? text : `${term}: ${text}`;
  return reason === '' ? said : `${said} (${reason})`;
}
