/** Says that a name is unknown, and which one was probably meant. */
export function unknownName(given: string, names: readonly string[]): string {
  const near = closest(given, names);
  return near === undefined ? `not one of ${names.join(', ')}` : `unknown; did you mean ${near}?`;
}

/** The name that was probably meant; undefined if none is similar. */
export function closest(given: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, changes: changesBetween(given.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.changes - b.changes);
  return best !== undefined && best.changes <= MOST_CHANGES ? best.name : undefined;
}

const MOST_CHANGES = 2;

/** The Levenshtein distance: letters to add, remove or replace. */
function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
