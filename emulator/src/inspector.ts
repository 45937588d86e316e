import { readFileSync } from 'node:fs';
import { Refusal } from './errors.js';

/** A file of the inspector's page, which lies beside `src` and `dist` and needs no build. */
export function inspectorFile(name: string): Response {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined || !/^[\w-]+\.\w+$/.test(name)) throw new Refusal(404, `there is no file ${name}`);
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    // The page talks to the emulator that serves it, and to nobody else.
    'content-security-policy': "default-src 'self'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
  };
  try {
    return new Response(readFileSync(new URL(`../inspector/${name}`, import.meta.url)), { headers });
  } catch {
    throw new Refusal(404, `there is no file ${name}`);
  }
}

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', css: 'text/css', js: 'text/javascript' };
