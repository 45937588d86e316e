import { badArgument, type RequestValidationError } from '../../errors/validation.js';
import type { OpenedFile } from './content.js';

/** Checks a path before anything is sent. */
export function openFile(path: string | URL): OpenedFile {
  const fs = process.getBuiltinModule('node:fs');
  const { basename } = process.getBuiltinModule('node:path');
  if (path instanceof URL && path.protocol !== 'file:') throw unusable('the URL must begin with file:');
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw unusable('there is no file at this path');
  if (!stats.isFile()) throw unusable('this path is not a file');
  return {
    name: basename(path instanceof URL ? process.getBuiltinModule('node:url').fileURLToPath(path) : path),
    size: stats.size,
    open: () => fs.createReadStream(path, { highWaterMark: 256 * 1024 }),
  };
}

function unusable(message: string): RequestValidationError {
  return badArgument(['file', 'path'], message);
}
