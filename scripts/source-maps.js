/**
 * A step of the build. In the source maps for Node, tsup names the CommonJS file itself by its absolute path. And a stack
 * trace needs lines: without columns and names, the maps have half the size.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';

const FOLDER = 'dist';

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.map'))) {
  const path = join(FOLDER, file);
  const map = JSON.parse(readFileSync(path, 'utf8'));
  map.sources = map.sources.map((source) => (isAbsolute(source) ? basename(source) : source));
  if (map.file !== undefined) map.file = basename(map.file);
  const missing = map.sources.find((source) => !existsSync(join(FOLDER, source)));
  if (missing !== undefined) throw new Error(`${file} leads to ${missing}, which does not exist`);
  map.mappings = encode(decode(map.mappings).map(linesOnly));
  map.names = [];
  writeFileSync(path, JSON.stringify(map));
}

/** The segments of a line at which another line of the sources begins. */
function linesOnly(segments) {
  return segments
    .filter(([, source, line], i) => i === 0 || source !== segments[i - 1][1] || line !== segments[i - 1][2])
    .map((segment) => segment.slice(0, 4));
}
