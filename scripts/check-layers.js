/**
 * Checks the imports of `src` and `emulator` against the layers of CONTRIBUTING.md, types included, and what only some files
 * may do. biome.json forbids cycles, `export *` and default exports.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** From top to bottom. A file may import from its own place, and from lower layers. */
const LAYERS = [
  ['src/browser.ts', 'src/cli/'],
  ['src/ai-sdk/', 'src/otel/', 'src/redis/', 'src/stores/'],
  ['src/conversation/testing/'],
  ['src/conversation/index.ts'],
  ['src/conversation/turn/'],
  ['src/conversation/context/'],
  ['src/conversation/prompt/'],
  ['src/conversation/options.ts'],
  ['src/conversation/search/'],
  ['src/conversation/'],
  ['src/schemas.ts'],
  ['src/index.ts'],
  ['src/context/', 'src/gateway/'],
  ['src/stream/'],
  ['src/call/'],
  ['src/response/'],
  ['src/request/'],
  ['src/events/', 'src/rate-limit/', 'src/wire/'],
  ['src/validation/'],
  ['src/platform/'],
  ['src/errors/'],
  ['src/base/'],

  ['emulator/src/index.ts', 'emulator/src/testing/'],
  ['emulator/src/cli/', 'emulator/src/emulator-store.ts'],
  ['emulator/src/emulator.ts'],
  ['emulator/src/emulator-parts.ts'],
  ['emulator/src/options.ts'],
  ['emulator/src/control/'],
  ['emulator/src/api/'],
  ['emulator/src/http/', 'emulator/src/context/', 'emulator/src/completions/'],
  ['emulator/src/faults/', 'emulator/src/upstream/', 'emulator/src/store/', 'emulator/src/text/'],
  ['emulator/src/base/'],
];
/** Entries import what users can import, and the ground floor. */
const ENTRIES = ['src/ai-sdk/', 'src/conversation/', 'src/otel/', 'src/redis/', 'src/stores/'];
const FOR_ENTRIES = [
  'src/index.ts',
  'src/conversation/index.ts',
  ...['src/base/', 'src/validation/', 'src/rate-limit/'],
];
/** Packages that only these files and folders may import. */
const RESERVED = {
  undici: ['src/platform/is-ours.ts', 'src/platform/undici-agent.ts'],
  'eventsource-parser': ['src/stream/sse.ts'],
  '@ai-sdk/provider': ['src/ai-sdk/api-call-error.ts', 'src/ai-sdk/provider.ts', 'src/ai-sdk/prompt-parts.ts'],
  '@opentelemetry/api': ['src/otel/'],
  '@modelcontextprotocol/server': ['src/cli/mcp-server.ts'],
  // As a user's tests do: it creates clients.
  'context-gateway': ['emulator/src/testing/clients.ts'],
};
/** Folders that import no package. */
const WITHOUT_PACKAGES = ['src/redis/', 'src/stores/', 'src/base/', 'src/errors/'];
/** The file behind `imports` in package.json. */
const WITHIN = { '#platform': 'src/platform/node.ts' };
/** What no file of a tree may do except these, and why. */
const ONLY_HERE = [
  ['', /^(?:export )?let \w+/m, [], 'no module variables; state has one owner'],
  [
    'src/',
    /\b(?:Date\.now|performance\.now|Math\.random|set(?:Timeout|Interval|Immediate))\(/,
    ['src/base/runtime.ts', 'src/base/pauses.ts', 'src/otel/call-span.ts', 'src/cli/mcp-server.ts'], // a span has its tracer's time, a process the real one
    'time and randomness are those of a Runtime',
  ],
  ['src/', /(?<![.#\w])fetch\(/, ['src/platform/'], 'only platform/ sends requests'],
  [
    'src/',
    /^(?:export )?const \w+(?:: [^=\n]+)? = new (?:Map|Set)(?:<.*>)?\(\)/m,
    ['src/platform/fetch.ts', 'src/conversation/search/dates.ts'], // two keys, and at most a hundred
    'a cache is keyed by an object (WeakMap), or is bounded and named in scripts/check-layers.js',
  ],
  [
    'emulator/src/',
    /^export type \w+ = z\.infer</m,
    [
      // Types of the inspector, which no user imports.
      'emulator/src/control/page/conversation-search.ts',
      'emulator/src/control/page/cost.ts',
      'emulator/src/control/state/case.ts',
      'emulator/src/text/excerpt.ts',
    ],
    'editors show the texts of an interface; `exact` proves that the schema has its form',
  ],
];
const IMPORT = /(?:^(?:import|export)\b[^'";]*?from\s*|^import\s*|\bimport\(\s*)'([^']+)'/gm;
const VAGUE_NAME = /\/(utils?|types|helpers?|common)\.ts$/;

const sources = [...filesIn('src'), ...filesIn('emulator/src')];
const imports = sources.flatMap(importsOf);
const folders = new Set(imports.map(({ file, target }) => `${dirname(file)} ${dirname(target)}`));
const problems = [
  ...sources.flatMap(problemsOf),
  ...imports.flatMap((one) => importProblem(one) ?? []),
  ...[...folders].flatMap((pair) => mutual(pair.split(' '))),
  ...filesIn('emulator/inspector').flatMap(pageProblems),
];
for (const problem of problems) console.error(problem);
console.log(`${sources.length} files, ${imports.length} imports, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function filesIn(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => /\.tsx?$/.test(file)).map((file) => join(folder, file));
}

/** The imports of a file: the target is a file of ours, or the name of a package. */
function importsOf(file) {
  const names = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, name]) => name);
  return names
    .filter((name) => !name.endsWith('/package.json')) // for the version
    .map((name) => (name.startsWith('.') ? join(dirname(file), name).replace(/\.js$/, '.ts') : (WITHIN[name] ?? name)))
    .map((target) => ({ file, target, isOurs: /^(emulator\/)?src\//.test(target) }));
}

function problemsOf(file) {
  const text = readFileSync(file, 'utf8');
  const code = text.startsWith('#!') ? '' : text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  const done = ONLY_HERE.filter(
    ([tree, what, places]) => file.startsWith(tree) && what.test(code) && !isIn(file, places),
  );
  return [
    ...done.map(([, what, , why]) => `${file}: ${what.exec(code)[0]}: ${why}`),
    ...(VAGUE_NAME.test(file) ? [`${file}: name the file after what it exports`] : []),
    ...(layerOf(file) === -1 ? [`${file} belongs to no layer; add it to scripts/check-layers.js, or move it`] : []),
  ];
}

function importProblem({ file, target, isOurs }) {
  const because = (why) => `${file} imports ${target}: ${why}`;
  if (!isOurs) {
    const places = Object.entries(RESERVED).find(([name]) => `${target}/`.startsWith(`${name}/`))?.[1];
    if (places !== undefined && !isIn(file, places)) return because(`only ${places.join(', ')} may`);
    return isIn(file, WITHOUT_PACKAGES) ? because('no packages here') : undefined;
  }
  if (file.startsWith('src/') !== target.startsWith('src/')) return because('the SDK and the emulator share no code');
  const entry = ENTRIES.find((place) => file.startsWith(place));
  if (entry !== undefined && !isIn(target, [entry, ...FOR_ENTRIES]))
    return because(`entries may import only ${FOR_ENTRIES.join(', ')}`);
  const isDown = layerOf(target) > layerOf(file) || placeOf(target) === placeOf(file);
  return isDown ? undefined : because('imports only go down');
}

/** Two folders that import each other. A folder and those in it count as one. */
function mutual([from, to]) {
  const isOne = isIn(`${from}/`, [`${to}/`]) || isIn(`${to}/`, [`${from}/`]);
  return !isOne && from < to && folders.has(`${to} ${from}`) ? [`${from} and ${to} import each other`] : [];
}

/** The inspector is a separate program: it imports only types from the emulator. */
function pageProblems(file) {
  const text = readFileSync(file, 'utf8').replace(/^import type [^;]* from '[^']+';$/gm, '');
  const targets = [...text.matchAll(/\bfrom '(\.[^']+)'/g)].map(([, name]) => join(dirname(file), name));
  const outside = targets.filter((target) => !target.startsWith('emulator/inspector/'));
  return outside.map((target) => `${file} imports ${target}: the inspector may import only types from the emulator`);
}

function placeOf(file) {
  return LAYERS.flat().find((place) => isIn(file, [place]));
}

function layerOf(file) {
  return LAYERS.findIndex((layer) => layer.includes(placeOf(file)));
}

/** Whether a file is one of these, or in a folder of these. */
function isIn(file, places) {
  return places.some((place) => file === place || (place.endsWith('/') && file.startsWith(place)));
}
