import { redact } from './redact.js';
import { Scanner } from './scanner.js';
import type { Secrets } from './secrets.js';

/** Hides keys in the events of a completion's stream, also a key that comes in pieces. */
export function redactEvents(events: readonly string[], secrets: Secrets | undefined, isCut: boolean): string[] {
  const scanner = new EventScanner(secrets);
  return [...events.flatMap((event) => scanner.push(event)), ...scanner.end(isCut)];
}

/** Hides keys in events as they come. An event that may have a part of a key waits, and those after it do. */
export class EventScanner {
  /** The text of each field that comes in pieces. */
  readonly #fields = new Map<string, Scanner>();
  readonly #waiting: { text: string; pieces: ScannedPiece[] }[] = [];
  #size = 0;
  /** Whether something is missing before the next event. */
  #isBroken = false;

  /** No more than `mostWaiting` characters wait. Then what may be the beginning of a key is hidden. */
  constructor(
    private readonly secrets: Secrets | undefined,
    private readonly mostWaiting = Number.POSITIVE_INFINITY,
  ) {}

  /** Takes an event. Returns the events that are known by now, without keys. */
  push(text: string): string[] {
    const pieces = piecesIn(text).map((piece) => {
      const scanner = this.#scanner(piece.field);
      const from = scanner.length;
      scanner.push(piece.text);
      return { ...piece, scanner, from };
    });
    this.#waiting.push({ text, pieces });
    this.#size += text.length;
    if (!isWhole(text)) this.skip();
    if (this.#size > this.mostWaiting) for (const scanner of this.#fields.values()) scanner.cut();
    return this.#known();
  }

  /** Says that a part of the stream is missing. */
  skip(): void {
    this.#isBroken = true;
    for (const scanner of this.#fields.values()) scanner.skip();
  }

  /** Returns the events that wait. */
  end(isCut: boolean): string[] {
    for (const scanner of this.#fields.values()) scanner.end(isCut);
    return this.#known();
  }

  #scanner(field: string): Scanner {
    let scanner = this.#fields.get(field);
    if (scanner === undefined) {
      scanner = new Scanner(this.secrets);
      if (this.#isBroken) scanner.skip();
      this.#fields.set(field, scanner);
    }
    return scanner;
  }

  #known(): string[] {
    const isUnknown = ({ scanner, from, text }: ScannedPiece): boolean => scanner.known < from + text.length;
    const first = this.#waiting.findIndex(({ pieces }) => pieces.some(isUnknown));
    const known = this.#waiting.splice(0, first === -1 ? this.#waiting.length : first);
    return known.map(({ text, pieces }) => {
      this.#size -= text.length;
      return this.#shown(text, pieces);
    });
  }

  #shown(event: string, pieces: readonly ScannedPiece[]): string {
    let safe = '';
    let end = 0;
    for (const { scanner, from, text, at } of pieces) {
      safe += redact(event.slice(end, at), this.secrets) + scanner.hidden.in(text, from);
      scanner.hidden.forget(from);
      end = at + text.length;
    }
    return safe + redact(event.slice(end), this.secrets);
  }
}

/** A piece of a text. `at` is its place in the event. */
interface Piece {
  field: string;
  text: string;
  at: number;
}

interface ScannedPiece extends Piece {
  scanner: Scanner;
  /** Its place in the text. */
  from: number;
}

/** An object of an event. */
interface Place {
  /** Its `index`, or else its name, or else its number among those without one. */
  id: string;
  unnamed: number;
  isInDelta: boolean;
  around: Place | undefined;
}

/** The pieces of texts in an event. A text of each choice, and of each of its tool calls, is a field of its own. */
function piecesIn(event: string): Piece[] {
  // Any other body is one text.
  if (!isEvent(event)) return [{ field: '', text: event, at: 0 }];
  if (!event.includes('"delta"')) return [];
  const pieces: (Omit<Piece, 'field'> & { name: string; place: Place })[] = [];
  const outside = (): Place => ({ id: '', unnamed: 0, isInDelta: false, around: undefined });
  let place = outside();
  for (const match of event.matchAll(TOKEN)) {
    const [whole, index, name, text, quote, key] = match;
    const end = match.index + whole.length;
    if (index !== undefined) place.id = index;
    else if (name !== undefined && text !== undefined && quote !== undefined) {
      if (place.isInDelta) pieces.push({ name, text, at: end - quote.length - text.length, place });
    } else if (whole.endsWith('{')) {
      const around: Place = place;
      const id = key ?? `#${around.unnamed}`;
      if (key === undefined) around.unnamed += 1;
      place = { id, unnamed: 0, isInDelta: around.isInDelta || key === 'delta', around };
    } else if (whole === '}') place = place.around ?? outside();
    else if (/[\r\n]/.test(whole)) place = outside();
  }
  // The index of an object may stand behind its texts.
  return pieces.map(({ name, text, at, place }) => ({ field: `${name} ${pathOf(place)}`, text, at }));
}

function pathOf(place: Place): string {
  let path = '';
  let depth = 0;
  for (let one: Place | undefined = place; one !== undefined && depth < DEEPEST; one = one.around) {
    path += ` ${one.id}`;
    depth += 1;
  }
  return path;
}

function isEvent(text: string): boolean {
  return /^(?:data|event|id|retry)?:/.test(text);
}

/** Whether an event has its end. */
function isWhole(text: string): boolean {
  if (!isEvent(text)) return true;
  return /[\r\n]$/.test(text) && (!/^data: ?\{/.test(text) || text.trimEnd().endsWith('}'));
}

/** An index, a field with a text, the beginning of an object with its name, another text, the end of an object or of a line. */
const TOKEN =
  /"index"\s*:\s*(\d+)|"(\w+)"\s*:\s*"((?:[^"\\\r\n]|\\[^\r\n])*)("?)|(?:"(\w+)"\s*:\s*)?\{|"(?:[^"\\\r\n]|\\[^\r\n])*"?|\}|[\r\n]/g;
/** In objects around a text. */
const DEEPEST = 8;
