/**
 * A step of the build. Makes the source maps of Node's files fit for the package: tsup names the CommonJS file itself by its
 * absolute path, and the map of `zod.js` is void since that file was minified again.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';

const FOLDER = 'dist';

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.map'))) {
  const path = join(FOLDER, file);
  if (file.startsWith('zod.')) {
    rmSync(path);
    continue;
  }
  const map = JSON.parse(readFileSync(path, 'utf8'));
  map.sources = map.sources.map((source) => (isAbsolute(source) ? basename(source) : source));
  if (map.file !== undefined) map.file = basename(map.file);
  const missing = map.sources.find((source) => !existsSync(join(FOLDER, source)));
  if (missing !== undefined) throw new Error(`${file} leads to ${missing}, which does not exist`);
  writeFileSync(path, JSON.stringify(map));
}
