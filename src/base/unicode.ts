/** A surrogate without its other half. With the `u` flag, pairs do not match. */
const LONE_SURROGATES = /[\uD800-\uDFFF]/gu;

/** `String.prototype.isWellFormed`, which Hermes and Safari before 16.4 do not have. */
export function isWellFormed(text: string): boolean {
  const native = (text as Partial<string>).isWellFormed;
  return native === undefined ? text.search(LONE_SURROGATES) === -1 : native.call(text);
}

/** `String.prototype.toWellFormed`: each surrogate without its other half becomes U+FFFD. */
export function toWellFormed(text: string): string {
  const native = (text as Partial<string>).toWellFormed;
  return native === undefined ? text.replace(LONE_SURROGATES, '\uFFFD') : native.call(text);
}
