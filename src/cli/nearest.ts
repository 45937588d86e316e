/** Characters of a name that are looked at. */
const LONGEST = 60;

/** The known names that a name may be a misspelling of: at most two letters in five differ. Case and separators make no difference. */
export function nearest(name: string, known: readonly string[]): string[] {
  const plain = (one: string): string => one.replace(/[_-]/g, '').toLowerCase();
  const meant = plain(name.slice(0, LONGEST));
  const distances = known.map((one) => [one, distance(meant, plain(one))] as const);
  const least = Math.min(meant.length / 2.5, ...distances.map(([, far]) => far));
  return distances.flatMap(([one, far]) => (far <= least ? one : []));
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
