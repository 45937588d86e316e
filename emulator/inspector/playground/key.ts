import type { ApiKeyInfo } from '../../src/store/api-keys.js';
import { ask } from '../service/control.js';

/**
 * The page's own key, created on first use and never shown. The browser stores it, so that not every visit creates
 * another.
 */
export function playgroundKey(): Promise<string> {
  // Two requests at once share one look-up, or each would create a key.
  pending ??= findOrCreate().finally(() => {
    pending = undefined;
  });
  return pending;
}

let pending: Promise<string> | undefined;

async function findOrCreate(): Promise<string> {
  const kept = localStorage.getItem(STORED);
  const keys = await ask<ApiKeyInfo[]>('GET', '/keys');
  if (kept !== null && keys.some(({ name, prefix }) => name === NAME && kept.startsWith(prefix))) return kept;
  const { key } = await ask<{ key: string }>('POST', '/keys', { kind: 'secret', name: NAME });
  localStorage.setItem(STORED, key);
  return key;
}

const NAME = 'Playground';
const STORED = 'context-gateway-emulator.playground-key';
