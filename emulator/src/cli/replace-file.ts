import { chmodSync, lstatSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Writes a file that keeps its mode, or a new one that only its owner may read. If that fails, as on a full disk, the
 * file stays as it was. What is no regular file, such as a pipe, is written directly.
 */
export function replaceFile(file: string, text: string): void {
  const before = statSync(file, { throwIfNoEntry: false });
  if (before !== undefined && !before.isFile()) {
    writeFileSync(file, text);
    return;
  }
  const target = withoutLinks(file);
  const temporary = join(dirname(target), `.${crypto.randomUUID()}.tmp`);
  try {
    writeFileSync(temporary, text, { mode: 0o600, flush: true });
    if (before !== undefined) chmodSync(temporary, before.mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (before === undefined) throw error;
    if (!IN_PLACE.has((error as NodeJS.ErrnoException).code ?? ''))
      throw new Error(`${error instanceof Error ? error.message : error}; the file is as it was`, { cause: error });
    writeFileSync(file, text);
  }
}

/** No other file may take its place: it is mounted alone, as into a container, or its directory is not writable. */
const IN_PLACE = new Set(['EBUSY', 'EXDEV', 'EACCES', 'EPERM', 'EROFS']);

/** Where the symbolic links of a path lead, also if there is no file yet. */
function withoutLinks(file: string): string {
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink();
  const path = join(realpathSync(dirname(file)), basename(file));
  return isLink ? withoutLinks(resolve(dirname(path), readlinkSync(path))) : path;
}
