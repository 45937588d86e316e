import type { ContextMetadata, RollingSummary } from '../index.js';
import type { Ledger, LedgerEntry, SummaryDiff, SummaryEntry } from './model.js';
import { wordsOf } from './words.js';

/** Lists the statements of a summary. Ignores fields that are missing or damaged. */
export function entriesOf(summary: RollingSummary): SummaryEntry[] {
  const entries: SummaryEntry[] = [
    ...textsOf(summary.goals).map((text) => ({ section: 'goals' as const, text })),
    ...textsOf(summary.requirements).map((text) => ({ section: 'requirements' as const, text })),
    ...listOf(summary.decisions).map(({ id, decision, reason, timestamp }) => ({
      ...{ section: 'decisions' as const, text: decision, id, timestamp },
      ...(reason && { reason }),
    })),
    ...textsOf(summary.currentPlan).map((text) => ({ section: 'currentPlan' as const, text })),
    ...Object.entries(summary.definitions ?? {})
      .sort(([a], [b]) => compare(a, b))
      .map(([term, text]) => ({ section: 'definitions' as const, text, term })),
  ];
  return entries.filter(({ text }) => typeof text === 'string' && text.trim() !== '');
}

/** The objects of a list that may be missing or damaged: with `validation: 'report'` the service may send anything. */
export function listOf<T extends object>(list: readonly T[] | undefined): readonly T[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'object' && item !== null) : [];
}

/** The texts of such a list. */
export function textsOf(list: readonly string[] | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** Whether an entry is valid until it is revoked. Goals and plans are not. */
export function isBinding({ section }: SummaryEntry): boolean {
  return section === 'decisions' || section === 'requirements' || section === 'definitions';
}

/** Compares by code units, so that the order does not depend on the locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/**
 * Compares two versions of a summary: which statements the newer one kept, reworded, lost and added. Statements are
 * matched by normalised text, and decisions also by id. A statement that occurs twice in `before` is listed twice. A
 * repetition of a known statement is not `added`.
 *
 * @example
 * ```ts
 * import { diffSummaries } from 'context-gateway/conversation';
 * await context.compact('conv_sample', { level: 'light' });
 * const before = await context.summary('conv_sample');
 * await context.compact('conv_sample', { level: 'aggressive' });
 * const { kept, lost } = diffSummaries(before, await context.summary('conv_sample'));
 * console.log(`${kept.length} kept, ${lost.length} lost`);
 * ```
 */
export function diffSummaries(before: RollingSummary, after: RollingSummary): SummaryDiff {
  const { lost, ...rest } = compareEntries(entriesOf(before), entriesOf(after));
  return { ...rest, lost: lost.filter(isBinding) };
}

/** Compares entries. Here `lost` contains every missing entry, goals and plans included. */
function compareEntries(before: readonly SummaryEntry[], after: readonly SummaryEntry[]): SummaryDiff {
  const byText = new Map(after.map((entry) => [keyOf(entry), entry]));
  const known = new Set<string>();
  const later = after.map((entry) => ({ entry, meaning: meaningOf(entry.text) }));
  const diff: SummaryDiff = { kept: [], reworded: [], lost: [], added: [] };
  for (const entry of before) {
    const same = byText.get(keyOf(entry));
    const match = same ?? findReworded(entry, later);
    if (match !== undefined) known.add(keyOf(match));
    if (same !== undefined) diff.kept.push(entry);
    else if (match !== undefined) diff.reworded.push({ before: entry, after: match });
    else diff.lost.push(entry);
  }
  diff.added = after.filter((entry) => !known.has(keyOf(entry)));
  return diff;
}

export const EMPTY_LEDGER: Ledger = { version: -1, entries: [] };

/**
 * Whether a compaction made this version of the summary. Excluding a message makes a new version too, so the time of the
 * last compaction decides. If the service does not report it, the first version after an exclude is attributed to that.
 */
export function isCompaction(
  { version, compactedAt, hasExcluded = false }: Ledger,
  summary: RollingSummary,
  { lastCompactionAt }: ContextMetadata,
): boolean {
  return (
    summary.version > version && (lastCompactionAt === undefined ? !hasExcluded : lastCompactionAt !== compactedAt)
  );
}

/**
 * Records a version of the summary. If no compaction made it, missing statements are forgotten, not lost: excluding a
 * message removes its statements.
 */
export function observeSummary(ledger: Ledger, summary: RollingSummary, metadata: ContextMetadata): Ledger {
  const { version, entries } = ledger;
  const compactedAt = metadata.lastCompactionAt;
  if (summary.version < version) return ledger;
  if (summary.version === version) return { ...ledger, compactedAt, hasExcluded: false };
  const now = entriesOf(summary).map((entry): LedgerEntry => ({ ...entry, until: summary.version }));
  // `entries` includes statements lost earlier, because they may be back.
  const missing = new Set<SummaryEntry>(compareEntries(entries, now).lost);
  const isNewLoss = isCompaction(ledger, summary, metadata);
  const older = entries.filter((entry) => missing.has(entry) && (isNewLoss || entry.until < version));
  const forgotten = new Set(older.filter((entry) => !isBinding(entry)).slice(0, -MAX_TRANSIENT));
  return {
    ...{ version: summary.version, compactedAt },
    entries: [...older.filter((entry) => !forgotten.has(entry)), ...now],
  };
}

/** Lost goals and plans to remember. Unlike decisions, they go out of date. */
const MAX_TRANSIENT = 100;

/** Statements that the newest summary lacks, oldest first. */
export function lostEntries({ entries, version }: Ledger): LedgerEntry[] {
  return entries.filter(({ until }) => until < version);
}

/** Forgets the statements of a message that was excluded or replaced. */
export function forgetMessage(ledger: Ledger, content = ''): Ledger {
  const sentences = sentencesOf(content).map(termsOf);
  const entries = ledger.entries.filter(({ text }) => {
    const terms = termsOf(text);
    // A sentence makes the statement if it contains all its terms, and at most twice as many in total.
    return !sentences.some(
      (sentence) => terms.size > 0 && sharedTerms(terms, sentence) === terms.size && sentence.size <= 2 * terms.size,
    );
  });
  return { ...ledger, entries, hasExcluded: true };
}

/** The text itself, and its sentences. */
function sentencesOf(text: string): string[] {
  return [text, ...text.split(/[.!?](?=\s)|[。！？\n]/)].filter((sentence) => sentence.trim() !== '');
}

/** Entries with equal keys state the same. */
function keyOf({ term, text }: SummaryEntry): string {
  return normalise(term === undefined ? text : `${term} ${text}`);
}

/** Normalises a text, so that case, punctuation and spaces make no difference. */
export function normalise(text: string): string {
  return (text.normalize('NFKC').toLowerCase().match(WORDS) ?? []).join(' ');
}

/**
 * Finds the entry that states the same in other words. A decision matches by its id and a common term, a definition by
 * its defined term, any other entry by most of its terms. Numbers, names and negations must be the same.
 */
function findReworded(
  entry: SummaryEntry,
  later: readonly { entry: SummaryEntry; meaning: Meaning }[],
): SummaryEntry | undefined {
  const meaning = meaningOf(entry.text);
  return later.find(({ entry: other, meaning: otherMeaning }) => {
    if (!agree(meaning, otherMeaning)) return false;
    if (entry.term !== undefined) return entry.term === other.term;
    const shared = sharedTerms(meaning.terms, otherMeaning.terms);
    if (entry.id !== undefined && entry.id !== '' && entry.id === other.id) return shared > 0;
    return meaning.terms.size > 2 && shared >= MOST_OF_IT * meaning.terms.size;
  })?.entry;
}

const MOST_OF_IT = 0.8;

/** What a rewording must not change. */
interface Meaning {
  terms: ReadonlySet<string>;
  /** Numbers, in digits and in words, with their signs, and how often something is negated. */
  facts: string;
  /** The terms of words that begin with a capital, or contain one. */
  names: readonly string[];
}

function meaningOf(text: string): Meaning {
  const words = text.normalize('NFKC').match(WORDS) ?? [];
  const lower = words.map((word) => word.toLowerCase());
  const negations = ` ${lower.join(' ')} `.match(NEGATION) ?? [];
  return {
    terms: termsOf(text),
    facts: [...lower.filter((word) => NUMBER.test(word)).sort(compare), negations.length].join(' '),
    names: words.filter((word) => /\p{Lu}/u.test(word)).flatMap((word) => [...termsOf(word)]),
  };
}

function agree(a: Meaning, b: Meaning): boolean {
  return (
    a.facts === b.facts && a.names.every((name) => b.terms.has(name)) && b.names.every((name) => a.terms.has(name))
  );
}

/** The words of a text, cut to their beginnings, so that "decide", "decided" and "decides" become equal. */
export function termsOf(text: string): Set<string> {
  const words = wordsOf(text).filter((word) => !/^(?:because|every|each|all|any|die)$/.test(word));
  return new Set(words.map((word) => word.slice(0, 6).replace(/(?<=..)ed?$/, '')));
}

/** Counts the terms that two texts share. */
export function sharedTerms(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared += 1;
  return shared;
}

/** Letters and digits, with the signs that change their meaning: C++ and C#, -20 and 20, 1.5 and 15, < 5 and > 5. */
const WORDS = /(?<![\p{L}\p{N}])-(?=\p{N})|\p{N}+(?:[.,:]\p{N}+)+|[\p{L}\p{M}\p{N}]+[+#]*|[<>≤≥]/gu;

/** Also C++ and C#. */
const NUMBER =
  /\p{N}|^[-<>≤≥]$|[+#]$|^(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred|thousand|million|once|twice|half|both|null|ein[se]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|hundert|tausend|une?|deux|trois|quatre|cinq|sept|huit|neuf|dix|cent|mille|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien|mil)$|[一二三四五六七八九十百千万两]/u;

/** Counted in words that are separated by spaces: the apostrophe of "don't" is such a space. */
const NEGATION =
  / (?:not?|never|none|nothing|nobody|neither|nor|without|cannot|t(?= )|nicht|nie(?:mals|mand)?|kein\w*|nichts|ohne|weder|ne|pas|jamais|aucune?|rien|sans|nunca|ningun[oa]?|ningún|nada|sin|tampoco)(?= )|[不没沒無无未非勿別别]|ない|ません|ไม่/gu;
