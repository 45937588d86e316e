/** The beginning of a text, and never half a character. */
export function startOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}

/** The same of a text in UTF-8. It is a view. */
export function startOfBytes(bytes: Uint8Array, most: number): Uint8Array {
  if (bytes.byteLength <= most) return bytes;
  let end = most;
  // A character has at most three bytes after its first one, which have these two bits.
  while (end > most - 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, Math.max(0, end));
}
