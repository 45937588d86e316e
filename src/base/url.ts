/** `URL.parse`, which React Native and browsers of 2023 do not have: `undefined` if the text is not a complete URL. */
export function parseURL(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
