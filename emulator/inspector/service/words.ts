/** `12,345` */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en');
}

/** `1 message`, `12 messages` */
export function plural(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? '' : 's'}`;
}

/** `22 %` with a space that does not break. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}\u00a0%`;
}

/** The time of day, to the second. */
export function timeOf(timestamp: string): string {
  return timestamp.slice(11, 19);
}

/** `2026-03-02 09:30:00` */
export function dateAndTime(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timeOf(timestamp)}`;
}

/** `84 ms`, `2.3 s` */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** The value of a JSON text. Throws an error for people if it is none. */
export function parsedJson(text: string, name = 'This'): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
