import type { RollingSummary } from '../index.js';
import type { LostEntry, SummaryDiff, SummaryEntry } from './model.js';
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
function isBinding({ section }: SummaryEntry): boolean {
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
function compareEntries<Entry extends SummaryEntry>(before: readonly Entry[], after: readonly SummaryEntry[]) {
  const byText = new Map(after.map((entry) => [keyOf(entry), entry]));
  const known = new Set<string>();
  const later = after.map((entry) => ({ entry, meaning: meaningOf(entry.text) }));
  const kept: Entry[] = [];
  const reworded: SummaryDiff['reworded'] = [];
  const lost: Entry[] = [];
  for (const entry of before) {
    const same = byText.get(keyOf(entry));
    const match = same ?? findReworded(entry, later);
    if (match !== undefined) known.add(keyOf(match));
    if (same !== undefined) kept.push(entry);
    else if (match !== undefined) reworded.push({ before: entry, after: match });
    else lost.push(entry);
  }
  return { kept, reworded, lost, added: after.filter((entry) => !known.has(keyOf(entry))) };
}

/**
 * The statements that are lost with a new version of the summary: those of `before` that it lacks, and those lost earlier,
 * unless it contains them again. `before` is the version before a compaction. Other changes lose nothing: excluding a
 * message also removes statements.
 */
export function lostWith(
  after: RollingSummary,
  lost: readonly LostEntry[],
  before: RollingSummary | undefined,
): LostEntry[] {
  const binding = before === undefined ? [] : entriesOf(before).filter(isBinding);
  const candidates = [...lost, ...binding.map((entry) => ({ ...entry, until: before?.version ?? 0 }))];
  return compareEntries(candidates, entriesOf(after)).lost;
}

/** Forgets the statements of a message that was excluded or replaced. */
export function forgetMessage(lost: readonly LostEntry[], content = ''): LostEntry[] {
  const sentences = sentencesOf(content).map(termsOf);
  return lost.filter(({ text }) => {
    const terms = termsOf(text);
    // A sentence makes the statement if it contains all its terms, and at most twice as many in total.
    return !sentences.some(
      (sentence) => terms.size > 0 && sharedTerms(terms, sentence) === terms.size && sentence.size <= 2 * terms.size,
    );
  });
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
    if (entry.id && entry.id === other.id) return shared > 0;
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
const WORDS = /(?<![\p{L}\p{N}])[-−](?=\p{N})|\p{N}+(?:[.,:]\p{N}+)+|[\p{L}\p{M}\p{N}]+[+#]*|[<>≤≥≠]|!=/gu;

/** Also C++ and C#. Tens and teens by their endings. */
const NUMBER =
  /\p{N}|^[-−<>≤≥≠]$|^!=$|[+#]$|^(?:(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|once|twice|half|both|null|(?:drei|vier|fünf|sech|sieb|acht|neun)zehn|(?:zwan|vier|fünf|sech|sieb|acht|neun)zig|ein[se]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|dreißig|hundert|tausend|une?|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|quarante|cinquante|soixante|cent|mille|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|trece|catorce|quince|veinte|(?:tre|cuare|cincue|sese|sete|oche|nove)i?nta|cien|mil)$|[一二三四五六七八九十百千万两]/u;

/** Counted in words that are separated by spaces: the apostrophe of "don't" is such a space. */
const NEGATION =
  / (?:not?|never|none|nothing|nobody|neither|nor|without|cannot|t(?= )|nicht|nie(?:mals|mand)?|kein\w*|nichts|ohne|weder|ne|pas|jamais|aucune?|rien|sans|nunca|ningun[oa]?|ningún|nada|sin|tampoco|non|não|sem|niet|geen|inte|ikke|ej|не|нет|без|bez|değil|안|لا|ليس|لم|لن|नहीं)(?= )|[不没沒無无未非勿別别않]|ない|ません|ไม่/gu;
