/** Whether strangers can read this program: a page or one of its workers. Servers, also those with web interfaces, are not. */
export function isBrowser(): boolean {
  const scope = globalThis as { window?: unknown; document?: unknown; importScripts?: unknown; process?: unknown };
  const page = scope.window !== undefined && scope.document !== undefined;
  const worker = typeof scope.importScripts === 'function' && scope.process === undefined;
  return page || worker;
}

/** A variable of the environment, where there is one and it may be read. */
export function readEnvironment(name: string): string | undefined {
  try {
    return globalThis.process?.env?.[name] || undefined;
  } catch {
    return undefined; // Deno without permission
  }
}
