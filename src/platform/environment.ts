/** Whether users can read this program and its secrets: true for a page and its workers, false for servers. */
export function isBrowser(): boolean {
  const scope = globalThis as { window?: unknown; document?: unknown; importScripts?: unknown; process?: unknown };
  const page = scope.window !== undefined && scope.document !== undefined;
  const worker = typeof scope.importScripts === 'function' && scope.process === undefined;
  return page || worker;
}

/** An environment variable, if it exists and may be read. */
export function readEnvironment(name: string): string | undefined {
  try {
    return globalThis.process?.env?.[name] || undefined;
  } catch {
    return undefined; // Deno without permission
  }
}
