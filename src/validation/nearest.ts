/** Characters of a name that are looked at. */
const LONGEST = 60;
/** Case and separators make no difference. */
const plain = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/** The known names that a name may be a misspelling of: at most one letter in `each` differs. */
export function nearest(name: string, known: readonly string[], each = 2.5): string[] {
  const meant = plain(name.slice(0, LONGEST));
  const distances = known.map((one) => [one, distance(meant, plain(one))] as const);
  const least = Math.min(meant.length / each, ...distances.map(([, far]) => far));
  return distances.flatMap(([one, far]) => (far <= least ? one : []));
}

/** The known names that differ from a name only in case and separators. */
export function alike(name: string, known: readonly string[]): string[] {
  return known.filter((one) => plain(one) === plain(name));
}

/** How many letters must be added, left out or replaced (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let at = 0; at < other.length; at += 1)
      next.push(Math.min((next[at] ?? 0) + 1, (row[at + 1] ?? 0) + 1, (row[at] ?? 0) + Number(letter !== other[at])));
    row = next;
  }
  return row.at(-1) ?? 0;
}
