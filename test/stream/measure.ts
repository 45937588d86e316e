import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect } from 'vitest';

export const MEGABYTE = 1024 * 1024;
export { PARAMS } from './script.js';

setFlagsFromString('--expose-gc');
export const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes in use: the heap, and array buffers outside of it. */
export function memory(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

export function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(1)} MB`;
}

/** Fails every test of the file that causes a process warning or an unhandled rejection. */
export function watchProcess(): void {
  const seen: unknown[] = [];
  const note = (what: unknown): void => void seen.push(what);
  beforeEach(() => {
    process.on('warning', note).on('unhandledRejection', note);
  });
  afterEach(() => {
    process.off('warning', note).off('unhandledRejection', note);
    expect(seen.splice(0)).toEqual([]);
  });
}
