/** Cuts everything in a text that looks like a key or a token to its prefix. */
export function redact(text: string): string {
  return text
    .replace(/(svc_[sp]k_|session_local_)[A-Za-z0-9_-]+/g, '$1***')
    .replace(/\b(sk-)[A-Za-z0-9_-]{8,}/g, '$1***')
    .replace(/\b(Bearer )(?!svc_|session_local_|\*)[A-Za-z0-9._~+/=-]{8,}/g, '$1***');
}
