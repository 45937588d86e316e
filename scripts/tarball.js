/**
 * Checks the packages to publish: each has all expected files and no others, no private data, and no broken link between
 * its pages.
 */
import { execFileSync } from 'node:child_process';

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';

/** `files` may be in the package, `required` must be. The largest sizes in bytes: a large file is added deliberately. */
const PACKAGES = [
  {
    folder: '.',
    files: [
      /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
      /^dist\/([a-z]+\/){0,2}[\w-]+\.(c?js|d\.c?ts)$/,
      /^docs\/(guides|reference)\/([a-z]+\/)?[\w-]+\.(md|webp|json)$/,
    ],
    required: [
      ...['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'docs/reference/assumptions.md'],
      ...['dist/index.js', 'dist/index.cjs', 'dist/index.d.ts', 'dist/web/index.js', 'dist/browser.js'],
    ],
    largest: { unpackedSize: 3_650_000, size: 1_000 * 1024, entryCount: 197 },
  },
  {
    folder: 'emulator',
    files: [
      /^(package\.json|README\.md|LICENSE|assumptions\.json)$/,
      /^dist\/[\w-]+\.(c?js|d\.c?ts)$/,
      /^dist\/licenses\.txt$/,
      /^dist\/inspector\/(index\.html|app\.css|app\.js)$/,
      /^docs\/[\w-]+\.(md|png)$/,
    ],
    required: [
      ...['package.json', 'README.md', 'LICENSE', 'assumptions.json', 'dist/cli.js', 'dist/inspector/app.js'],
      ...['dist/licenses.txt', 'dist/tokenizer.cjs'],
      ...['index', 'jest', 'node-test'].flatMap((name) =>
        ['js', 'cjs', 'd.ts', 'd.cts'].map((kind) => `dist/${name}.${kind}`),
      ),
      ...['dist/vitest.js', 'dist/vitest.d.ts'],
    ],
    largest: { unpackedSize: 6_650_000, size: 2_520 * 1024, entryCount: 60 },
  },
];
/** The documented prefixes alone (`svc_sk_`, `svc_sk_local_…`) do not count as keys. */
const FORBIDDEN = {
  'a key of the service': /\b(svc_[sp]k_|session_local_)\w*[a-z0-9]{12,}/,
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  'a token of another service': /\b(npm_|gh[pousr]_|sk-|AKIA|eyJhbGciOi)[A-Za-z0-9_-]{16,}/,
  'a path of the machine it was built on':
    /(^|[\s"'`(])(\/(home(?!\/node\/)|root|Users|work|tmp|builds?|var)\/\w|[A-Z]:\\\\?\w)|file:\/\/\//m,
  'a source map': /[#@] ?sourceMappingURL=data:/,
  'a test': /from ['"]vitest['"]|require\(['"]vitest['"]\)/,
};
/** The target of a Markdown link or image. */
const LINK = /\]\(([^)\s#]+)[^)]*\)/g;

/** In bytes on the disk: what both packages and what they depend on take together. */
const LARGEST_INSTALL = 22_000_000;
const BLOCK = 4096;

/** Bundled into Node's build. Their fixes reach users with our next version; see SECURITY.md. */
const INSIDE = ['zod', 'eventsource-parser', 'hono', '@hono/node-server', 'gpt-tokenizer'];

let failures = 0;
let installed = 0;
for (const { folder, files, required, largest } of PACKAGES) {
  const pack = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8', cwd: folder }),
  )[0];
  const packed = pack.files.map(({ path }) => path);
  const problems = [
    ...required.filter((file) => !packed.includes(file)).map((file) => `${file} is missing`),
    ...packed.filter((file) => !files.some((pattern) => pattern.test(file))).map((file) => `${file} does not belong`),
    ...packed.flatMap((file) => problemsOf(folder, file, packed)),
    ...Object.entries(largest).flatMap(([field, most]) =>
      pack[field] > most ? `its ${field} is ${pack[field]}, more than ${most}` : [],
    ),
  ];
  for (const problem of problems) console.error(`${pack.name}: ${problem}`);
  failures += problems.length;
  installed += onDisk(pack.files.map(({ size }) => size));
  console.log(
    `${pack.name}: ${pack.entryCount} files, ${kilobytes(pack.size)} packed, ${kilobytes(pack.unpackedSize)} unpacked`,
  );
}
const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const needed = neededBy(PACKAGES.map(({ folder }) => (folder === '.' ? '' : folder)));
for (const folder of needed) installed += onDisk(filesIn(folder).map((file) => statSync(file).size));
console.log(
  `installed: ${kilobytes(installed)}, with ${needed.map((folder) => folder.slice('node_modules/'.length)).join(', ')}`,
);
if (installed > LARGEST_INSTALL) {
  console.error(`Both packages install ${installed} bytes, more than ${LARGEST_INSTALL}`);
  failures += 1;
}
console.log(`inside: ${INSIDE.map((name) => `${name} ${locked[`node_modules/${name}`].version}`).join(', ')}`);
process.exitCode = failures === 0 ? 0 : 1;

/** The folders of packages that npm installs beside these. Packages of ours, and optional peers, are not among them. */
function neededBy(packages, found = new Set()) {
  for (const name of packages.flatMap((folder) => Object.keys(locked[folder].dependencies ?? {}))) {
    const folder = `node_modules/${name}`;
    if (locked[folder].link || found.has(folder)) continue;
    found.add(folder);
    neededBy([folder], found);
  }
  return [...found];
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath, entry.name));
}

/** A file takes whole blocks. */
function onDisk(sizes) {
  return sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK) * BLOCK, 0);
}

function problemsOf(folder, file, packed) {
  const text = readFileSync(posix.join(folder, file), 'utf8');
  const found = Object.entries(FORBIDDEN).flatMap(([what, pattern]) => {
    // The guides contain example tests, and the emulator's fixtures belong to Vitest.
    const isAllowed = what === 'a test' && (file.endsWith('.md') || file.startsWith('dist/vitest.'));
    const at = isAllowed ? -1 : text.search(pattern);
    return at < 0 ? [] : `${file} has ${what} in it, at line ${text.slice(0, at).split('\n').length}`;
  });
  return [...found, ...brokenLinks(file, text, packed).map((target) => `${file} links to ${target}`)];
}

/** Relative links to files outside the package. Readers of an installed package have only its files. */
function brokenLinks(file, text, packed) {
  if (!file.endsWith('.md')) return [];
  const targets = [...text.matchAll(LINK)].map(([, target]) => target).filter((target) => !/^[a-z]+:/.test(target));
  return targets.filter((target) => !packed.includes(posix.join(posix.dirname(file), target)));
}

function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(0)} KB`;
}
