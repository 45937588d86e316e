import type { MessageInput, MessageRole } from '../../src/store/conversation-records.js';
import { ROLES } from './roles.js';

/** What a label at the start of a line is: a speaker with a role, left out, or a part of the text. */
export type Choice = MessageRole | 'none' | 'text';

/** A label of a transcript, and what it is taken for. */
export interface Speaker {
  /** As first written; empty for the text before the first label. */
  name: string;
  /** On how many lines it stands. */
  count: number;
  choice: Choice;
}

interface Line {
  text: string;
  /** If it may start a message: the name, what follows it, and whether its form leaves no doubt. */
  label?: { name: string; rest: string; isClear: boolean } | undefined;
}

/**
 * Parses a transcript. A label starts a message only if it is a speaker of this transcript: other labels, such as `Note:`,
 * are text. If several speakers have the same role, each message keeps its speaker's name.
 */
export function fromSpeakers(
  text: string,
  choices: Readonly<Record<string, Choice>>,
): { messages: MessageInput[]; speakers: Speaker[] } {
  const lines = linesOf(text);
  const speakers = speakersOf(lines).map((speaker) => ({
    ...speaker,
    choice: choices[speaker.name] ?? speaker.choice,
  }));
  const byKey = new Map(speakers.map((speaker) => [keyOf(speaker.name), speaker]));
  const turns: { speaker: Speaker; lines: string[] }[] = [];
  const before: Speaker = { name: '', count: 1, choice: choices[''] ?? 'user' };
  for (const { text: line, label } of lines) {
    const speaker = label && byKey.get(keyOf(label.name));
    if (label !== undefined && speaker !== undefined && speaker.choice !== 'text')
      turns.push({ speaker, lines: [label.rest] });
    else if (turns.length === 0) turns.push({ speaker: before, lines: [line] });
    else turns.at(-1)?.lines.push(line);
  }
  const isNamed = (speaker: Speaker): boolean =>
    speaker.name !== '' &&
    !ROLES.has(keyOf(speaker.name)) &&
    speakers.some((other) => other !== speaker && other.choice === speaker.choice);
  const messages = turns.flatMap(({ speaker, lines }): MessageInput[] => {
    // Only empty lines around a message are dropped: its own indentation is part of it.
    const content = lines
      .join('\n')
      .replace(/^(?:[ \t]*\n)+/, '')
      .trimEnd();
    if (content === '' || speaker.choice === 'none' || speaker.choice === 'text') return [];
    return [{ role: speaker.choice, content: isNamed(speaker) ? `${speaker.name}: ${content}` : content }];
  });
  const hasBefore = turns.some(({ speaker, lines }) => speaker === before && lines.join('').trim() !== '');
  return { messages, speakers: hasBefore && turns.length > 1 ? [before, ...speakers] : speakers };
}

/** The lines, each with the label it may have. Code in fences has none. */
function linesOf(text: string): Line[] {
  const lines = text.split(/\r?\n/);
  let fence: string | undefined;
  return lines.map((line, i): Line => {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      return { text: line };
    }
    // A fence that is never closed is text.
    if (mark !== undefined && lines.slice(i + 1).some((other) => other.trimStart().startsWith(mark))) fence = mark;
    return { text: line, label: labelOf(line) };
  });
}

function labelOf(line: string): Line['label'] {
  // Other headings are part of the text.
  const heading = HEADING.exec(line)?.groups?.name;
  if (heading !== undefined && ROLES.has(keyOf(heading))) return { name: heading, rest: '', isClear: true };
  const { time, stars, name = '', rest = '' } = LABEL.exec(line)?.groups ?? {};
  if (name === '' || rest.startsWith('//')) return undefined;
  return { name: name.trim(), rest, isClear: time !== undefined || stars !== undefined };
}

/** `User: …`, `**Assistant:** …`, `[10:02] Anna: …`, `10:02:07 Anna: …`, `You said:` */
const LABEL =
  /^(?<time>\[[\d:.,/\sTZ+-]+\]\s*|\d{1,2}:\d\d(?::\d\d)?\s+(?:-\s+)?)?(?<stars>\*\*|__)?(?<name>[\p{L}][\p{L}\p{M}\p{N} .'’_()-]{0,40}?)(?:\*\*|__)?(?:\s+said)?\s*:(?:\*\*|__)?(?:\s(?<rest>.*))?$/u;
/** `## User`, `#### **ChatGPT:**` */
const HEADING = /^#{1,6}\s*\**(?<name>[\p{L}][\p{L}\p{N} .'’_-]{0,30}?)(?:\s+said)?\s*:?\**\s*:?\s*$/u;

function speakersOf(lines: readonly Line[]): Speaker[] {
  const found = new Map<string, Speaker & { isClear: boolean }>();
  for (const { label } of lines) {
    if (label === undefined) continue;
    const known = found.get(keyOf(label.name));
    if (known === undefined)
      found.set(keyOf(label.name), { name: label.name, count: 1, choice: 'text', isClear: label.isClear });
    else {
      known.count += 1;
      known.isClear ||= label.isClear;
    }
  }
  const all = [...found.values()];
  const roles = all.filter(({ name }) => ROLES.has(keyOf(name)));
  const first = lines.find(({ text }) => text.trim() !== '')?.label?.name;
  const names = all.filter(({ name, isClear }) => isLikeName(name, isClear));
  // Two names make a conversation if one speaks twice or begins the text. With roles, names are text.
  const isTalk = names.length > 1 && names.some(({ name, count }) => count > 1 || keyOf(name) === keyOf(first ?? ''));
  for (const one of roles) one.choice = ROLES.get(keyOf(one.name)) ?? 'user';
  if (roles.length === 0 && isTalk) {
    names.forEach((one, i) => {
      one.choice = names.length === 2 && i === 1 ? 'assistant' : 'user';
    });
  }
  return all
    .filter(({ name, choice, isClear }) => choice !== 'text' || isLikeName(name, isClear))
    .map(({ name, count, choice }) => ({ name, count, choice }));
}

/** `Anna`, `Dr. Ben Holt`, `Speaker 2`; not `Note`, `Step 1` or `Two things`. */
function isLikeName(name: string, isClear: boolean): boolean {
  const words = name
    .replace(/\([^)]*\)/g, '')
    .trim()
    .split(/\s+/);
  if (words.length > 4 || NO_NAMES.has(keyOf(words[0] ?? ''))) return false;
  if (/\d/.test(name))
    return isClear || /^(?:speaker|participant|person|guest|sprecher\w*|teilnehmer\w*) \w+$/i.test(name);
  return words.every((word) => /^[\p{Lu}\p{Lo}]/u.test(word) || PARTICLES.has(word));
}

function keyOf(name: string): string {
  return name.trim().toLowerCase();
}

const PARTICLES = new Set(['van', 'von', 'de', 'der', 'den', 'da', 'di', 'du', 'la', 'le', 'bin', 'al']);
/** Words before a colon that are no one's name. */
const NO_NAMES = new Set(
  `note notes step steps todo warning caution tip hint info example examples e.g question answer summary ps edit update re
  subject date time goal goals decision decisions action actions result results error errors input output http https
  important attention remember reminder agenda topic topics next problem solution reason status title from to cc bcc
  deadline owner budget option options phase part section chapter figure table source sources link links url see also
  pros cons background context requirement requirements risk risks plan open done here there this that these those first
  second third finally conclusion hinweis schritt achtung beispiel frage antwort fazit ziel termin`.split(/\s+/),
);
