/**
 * Checks the imports of `src` and `emulator/src` against the layers of CONTRIBUTING.md, types included, and looks for
 * cycles and for folders that import each other.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * From top to bottom. A file may import from its own place and from lower layers, but not from another place in the
 * same layer.
 */
const LAYERS = {
  src: [
    ['browser.ts', 'cli/'],
    ['ai-sdk/', 'otel/', 'redis/', 'stores/'],
    ['conversation/'],
    ['index.ts', 'schemas.ts'],
    ['context/', 'gateway/'],
    ['stream/'],
    ['call/'],
    ['response/'],
    ['request/'],
    ['events/', 'rate-limit/', 'wire/'],
    ['validation/'],
    ['platform/'],
    ['errors/'],
    ['base/'],
  ],
  'emulator/src': [
    ['index.ts', 'testing/'],
    ['cli/', 'emulator-store.ts'],
    ['emulator.ts'],

    ['options.ts'],
    ['control/'],
    ['api/'],
    ['http/', 'context/', 'completions/'],
    ['faults/', 'upstream/', 'store/', 'text/'],
    ['base/'],
  ],
};
/** The rooms of `src/conversation`, from top to bottom. */
const ROOMS = ['testing/', 'index.ts', 'turn/', 'context/', 'prompt/', 'search/'].map((room) => `conversation/${room}`);
/** Entries. They import what users can import, and the ground floor. */
const ON_THE_DOOR = ['ai-sdk/', 'conversation/', 'otel/', 'redis/', 'stores/'];
const DOORS = ['index.ts', 'conversation/index.ts'];
const GROUND_FLOOR = ['base/', 'validation/', 'rate-limit/'];
/** Packages that only these files and folders may import. */
const RESERVED = {
  undici: ['platform/is-ours.ts', 'platform/undici-agent.ts'],
  'eventsource-parser': ['stream/sse.ts'],
  '@ai-sdk/provider': ['ai-sdk/api-call-error.ts', 'ai-sdk/provider.ts', 'ai-sdk/prompt-parts.ts'],
  '@opentelemetry/api': ['otel/'],
  '@modelcontextprotocol/sdk': ['cli/mcp-server.ts'],
};
/** Folders that import no package. */
const WITHOUT_PACKAGES = ['redis/', 'stores/', 'base/', 'errors/'];
const NO_STATE = [/^(?:export )?let \w+/m, [], 'no module variables; state has one owner'];
/** What only these files of `src` may do, and how it is done elsewhere. */
const ONLY_HERE = [
  [
    /\b(?:Date\.now|performance\.now|Math\.random|set(?:Timeout|Interval|Immediate))\(/,
    ['base/runtime.ts', 'base/pauses.ts', 'otel/call-span.ts'], // a span has the time of its tracer, which is the wall clock
    'time and randomness are those of a Runtime',
  ],
  [/(?<![.#\w])fetch\(/, ['platform/'], 'only platform/ sends requests'],
  [
    /^(?:export )?const \w+(?:: [^=\n]+)? = new (?:Map|Set)(?:<.*>)?\(\)/m,
    ['platform/fetch.ts', 'conversation/search/dates.ts'], // two keys, and at most a hundred
    'a cache is keyed by an object (WeakMap), or is bounded and named in scripts/check-layers.js',
  ],
];
/** The file behind `imports` in package.json. */
const WITHIN = { '#platform': 'platform/node.ts' };
/** The only emulator file that imports the SDK, as a user's tests do: it creates clients. */
const WITH_THE_SDK = 'testing/clients.ts';
const VAGUE_NAME = /(^|\/)(utils?|types|helpers?|common)\.ts$/;

const problems = [];

function sources(root) {
  const files = readdirSync(root, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && file.name.endsWith('.ts'))
    .map((file) => relative(root, join(file.parentPath, file.name)));
}

function importsOf(root, file) {
  const text = readFileSync(join(root, file), 'utf8');
  if (/^export \*/m.test(text) && file !== 'browser.ts')
    problems.push(`${file}: export * hides what is exported; write every name out`);
  if (!text.startsWith('#!')) checkText(root, file, text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, ''));
  // The text of a script, as the build imports it, is a default export.
  if (/^export default/m.test(text) && !file.endsWith('.d.lua.ts')) problems.push(`${file}: no default exports`);
  if (VAGUE_NAME.test(file)) problems.push(`${file}: vague file name; name the file after what it exports`);
  const found = [...text.matchAll(/(?:^(?:import|export)\b[^'";]*?from\s*|^import\s*|\bimport\(\s*)'([^']+)'/gm)];
  return found.map(([, name]) => name);
}

function checkText(root, file, code) {
  const rules = root === 'src' ? [NO_STATE, ...ONLY_HERE] : [NO_STATE];
  for (const [what, places, why] of rules) {
    const found = what.exec(code);
    if (found !== null && !places.some((place) => isIn(file, place)))
      problems.push(`${root}/${file}: ${found[0]}: ${why}`);
  }
}

function placeOf(root, file) {
  return LAYERS[root].flat().find((place) => isIn(file, place));
}

function isIn(file, place) {
  return file === place || (place.endsWith('/') && file.startsWith(place));
}

function layerOf(root, file) {
  return LAYERS[root].findIndex((layer) => layer.includes(placeOf(root, file)));
}

function checkLayer(root, file, target) {
  const from = layerOf(root, file);
  const to = layerOf(root, target);
  if (from === -1) problems.push(`${root}/${file}: belongs to no layer; add it to scripts/check-layers.js, or move it`);
  const samePlace = placeOf(root, file) === placeOf(root, target);
  if (
    ON_THE_DOOR.includes(placeOf(root, file)) &&
    !samePlace &&
    !DOORS.includes(target) &&
    !GROUND_FLOOR.some((place) => isIn(target, place))
  ) {
    problems.push(
      `${root}/${file} imports ${target}: entries may import only '../index.js', ${GROUND_FLOOR.join(', ')}`,
    );
    return;
  }
  const isDoor = target === 'schemas.ts' || file === 'schemas.ts';
  if (to > from || (to === from && (samePlace || isDoor))) return;
  problems.push(
    `${root}/${file} imports ${target}: ${to === from ? 'siblings must not import each other' : 'lower layers must not import higher ones'}`,
  );
}

/** A file of a room imports only from its own room, from lower ones, and from the files beside them. */
function checkRoom(file, target) {
  const [from, to] = [file, target].map((one) => ROOMS.findIndex((room) => isIn(one, room)));
  if (from !== -1 && to !== -1 && to < from)
    problems.push(`src/${file} imports ${target}: lower rooms must not import higher ones`);
}

function checkPackage(file, name) {
  if (WITHOUT_PACKAGES.some((place) => isIn(file, place))) problems.push(`${file} imports ${name}: no packages here`);
  const reserved = Object.keys(RESERVED).find((key) => name === key || name.startsWith(`${key}/`));
  if (reserved !== undefined && !RESERVED[reserved].some((place) => isIn(file, place))) {
    problems.push(`${file} imports ${name}: only ${RESERVED[reserved].join(', ')} may`);
  }
}

function isSdk(name) {
  return name === 'context-gateway' || name.startsWith('context-gateway/');
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

/** Pairs of folders whose files import each other. A folder and those in it count as one. */
function mutualImports(graph) {
  const imports = new Set();
  for (const [file, targets] of graph) {
    for (const target of targets) {
      const [from, to] = [dirname(file), dirname(target)];
      if (!isWithin(from, to) && !isWithin(to, from)) imports.add(`${from} and ${to}`);
    }
  }
  return [...imports].filter((pair) => {
    const [from, to] = pair.split(' and ');
    return from < to && imports.has(`${to} and ${from}`);
  });
}

function isWithin(folder, other) {
  return other === '.' || `${folder}/`.startsWith(`${other}/`);
}

function checkTree(root) {
  const graph = new Map();
  for (const file of sources(root)) {
    const targets = [];
    for (const name of importsOf(root, file)) {
      const within = WITHIN[name];
      if (within !== undefined) {
        targets.push(within);
        checkLayer(root, file, within);
      } else if (name.startsWith('.')) {
        if (name.endsWith('/package.json')) continue; // for the version
        const target = relative('.', join(dirname(file), name)).replace(/\.js$/, '.ts');
        if (target.startsWith('..'))
          problems.push(`${root}/${file} imports ${name}: the SDK and the emulator do not share code`);
        targets.push(target);
        checkLayer(root, file, target);
        if (root === 'src') checkRoom(file, target);
      } else if (root === 'src') {
        checkPackage(file, name);
      } else if (isSdk(name) && !(root === 'emulator/src' && isIn(file, WITH_THE_SDK))) {
        problems.push(`${root}/${file} imports ${name}: the emulator is written from the interface, not from the SDK`);
      }
    }
    graph.set(file, targets);
  }
  const cycle = findCycle(graph);
  if (cycle !== undefined) problems.push(`${root}: import cycle: ${cycle.join(' -> ')}`);
  for (const pair of mutualImports(graph)) problems.push(`${root}: ${pair} import each other`);
  return graph.size;
}

/** The page is a separate program: from the emulator it may import only types, from the SDK what users can import. */
function checkPage(root) {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8').replace(/^import type [^;]* from '[^']+';$/gm, '');
    for (const [, name] of text.matchAll(/\bfrom '([^']+)'/g)) {
      const isOutside = name.startsWith('.') && relative('.', join(dirname(file), name)).startsWith('..');
      if (isOutside)
        problems.push(`${root}/${file} imports ${name}: the inspector may import only types from the emulator`);
    }
  }
  return files.length;
}

const count = checkTree('src') + checkTree('emulator/src') + checkPage('emulator/inspector');
for (const problem of problems) console.error(problem);
console.log(
  `${count} files, ${problems.length === 0 ? 'every import in its layer, no cycles' : `${problems.length} problems`}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
