/** The beginning of a text, and never half a character. */
export function startOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
