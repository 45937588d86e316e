/** Calls the control plane. Throws with the message of an error response. */
export async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const json =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(`/_emulator${path}`, { method, ...json });
  } catch {
    throw new Error('The emulator is not responding. Is it still running?');
  }
  const value: unknown = await response.json().catch(() => undefined);
  if (response.ok) return value as T; // both sides are built from the same types
  throw new Error(errorOf(value) ?? `The emulator responded with ${response.status}.`);
}

/** The path of a conversation in the control plane. */
export function conversationPath(id: string, more = ''): string {
  return `/conversations/${encodeURIComponent(id)}${more}`;
}

function errorOf(value: unknown): string | undefined {
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined;
  return typeof error === 'string' ? `${error.charAt(0).toUpperCase()}${error.slice(1)}` : undefined;
}
