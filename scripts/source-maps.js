/** A step of the build: in the source maps for Node, tsup names the CommonJS file itself by its absolute path. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';

const FOLDER = 'dist';

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.map'))) {
  const path = join(FOLDER, file);
  const map = JSON.parse(readFileSync(path, 'utf8'));
  map.sources = map.sources.map((source) => (isAbsolute(source) ? basename(source) : source));
  if (map.file !== undefined) map.file = basename(map.file);
  const missing = map.sources.find((source) => !existsSync(join(FOLDER, source)));
  if (missing !== undefined) throw new Error(`${file} leads to ${missing}, which does not exist`);
  writeFileSync(path, JSON.stringify(map));
}
