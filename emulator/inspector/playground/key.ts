import type { ApiKeyInfo } from '../../src/store/api-keys.js';
import { ask } from '../service/control.js';

/** A key of the page's own, made when it is first needed. Kept by the browser, so that there is one and not one a visit; never shown. */
export async function playgroundKey(): Promise<string> {
  const kept = localStorage.getItem(STORED);
  const keys = await ask<ApiKeyInfo[]>('GET', '/keys');
  if (kept !== null && keys.some(({ name, prefix }) => name === NAME && kept.startsWith(prefix))) return kept;
  const { key } = await ask<{ key: string }>('POST', '/keys', { kind: 'secret', name: NAME });
  localStorage.setItem(STORED, key);
  return key;
}

const NAME = 'Playground';
const STORED = 'context-gateway-emulator.playground-key';
