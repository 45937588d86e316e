/** Holds the imports of `src` and `emulator/src` against the layers of CONTRIBUTING.md, and looks for cycles. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** From the top down: a file may import from its own layer's folder and from every layer below it. */
const LAYERS = [
  ['index.ts', 'schemas.ts'],
  ['context/', 'gateway/'], // side by side: never one from the other
  ['transport/'],
  ['platform/'],
  ['errors.ts'],
  ['answer.ts', 'zod.ts'],
];
/** Packages, and the only files that may import them. */
const RESERVED = {
  undici: ['platform/agent.ts', 'platform/undici-agent.d.ts'],
  'eventsource-parser': ['transport/sse.ts'],
  'zod/mini': ['zod.ts'], // the others import `#zod`, and types
};
/** What `imports` of package.json leads to. */
const WITHIN = { '#platform': 'platform/node.ts', '#zod': 'zod.ts' };
const VAGUE_NAME = /(^|\/)(utils?|types|helpers?|common)\.ts$/;

const problems = [];

function sources(root) {
  const files = readdirSync(root, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && file.name.endsWith('.ts'))
    .map((file) => relative(root, join(file.parentPath, file.name)));
}

function importsOf(root, file) {
  // The types of zod cost nothing at run time.
  const text = readFileSync(join(root, file), 'utf8').replace(/^import type [^;]* from 'zod\/mini';$/gm, '');
  if (/^export \*/m.test(text)) problems.push(`${file}: export * hides what is exported; write every name out`);
  if (/^export default/m.test(text)) problems.push(`${file}: no default exports`);
  if (VAGUE_NAME.test(file)) problems.push(`${file}: a name that says nothing; name the file after what it exports`);
  const found = [...text.matchAll(/(?:^(?:import|export)\b[^'";]*?from\s*|^import\s*|\bimport\(\s*)'([^']+)'/gm)];
  return found.map(([, name]) => name);
}

function placeOf(file) {
  return LAYERS.flat().find((place) => file === place || (place.endsWith('/') && file.startsWith(place)));
}

function layerOf(file) {
  return LAYERS.findIndex((layer) => layer.includes(placeOf(file)));
}

function checkLayer(file, target) {
  const from = layerOf(file);
  const to = layerOf(target);
  if (from === -1) problems.push(`${file}: belongs to no layer; add it to scripts/check-layers.js, or move it`);
  const samePlace = placeOf(file) === placeOf(target);
  if (to > from || (to === from && (samePlace || from === 0))) return;
  problems.push(
    `${file} imports ${target}: ${to === from ? 'the two API areas do not know each other' : 'a lower layer does not know the ones above it'}`,
  );
}

function checkPackage(file, name) {
  const reserved = Object.keys(RESERVED).find((key) => name === key || name.startsWith(`${key}/`));
  if (reserved !== undefined && !RESERVED[reserved].includes(file)) {
    problems.push(`${file} imports ${name}: only ${RESERVED[reserved].join(', ')} may`);
  }
}

function findCycle(graph) {
  const done = new Set();
  const visit = (file, path) => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    done.add(file);
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file]);
      if (cycle !== undefined) return cycle;
    }
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

function checkTree(root, layered) {
  const graph = new Map();
  for (const file of sources(root)) {
    const targets = [];
    for (const name of importsOf(root, file)) {
      const within = WITHIN[name];
      if (within !== undefined) {
        targets.push(within);
        if (layered) checkLayer(file, within);
      } else if (name.startsWith('.')) {
        if (name === '../package.json') continue; // its version
        const target = relative('.', join(dirname(file), name)).replace(/\.js$/, '.ts');
        if (target.startsWith('..'))
          problems.push(`${root}/${file} imports ${name}: the SDK and the emulator do not share code`);
        targets.push(target);
        if (layered) checkLayer(file, target);
      } else if (layered) {
        checkPackage(file, name);
      } else if (name === 'context-gateway' || name.startsWith('context-gateway/')) {
        problems.push(`${root}/${file} imports ${name}: the emulator is written from the interface, not from the SDK`);
      }
    }
    graph.set(file, targets);
  }
  const cycle = findCycle(graph);
  if (cycle !== undefined) problems.push(`${root}: a ring of imports: ${cycle.join(' -> ')}`);
  return graph.size;
}

const count = checkTree('src', true) + checkTree('emulator/src', false);
for (const problem of problems) console.error(problem);
console.log(
  `${count} files, ${problems.length === 0 ? 'every import in its layer, no rings' : `${problems.length} problems`}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
