/**
 * Checks the packages in `packed`: each has all expected files and no others, no private data, no broken link between its
 * pages, and is not larger than it was.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';

/** `files` may be in the package, `required` must be. The largest sizes in bytes: a large file is added deliberately. */
const PACKAGES = {
  'packed/context-gateway': {
    files: [
      /^(package\.json|README\.md|SKILL\.md|LICENSE|CHANGELOG\.md)$/,
      /^dist\/licenses\.txt$/,
      /^dist\/([a-z]+\/){0,2}[\w-]+\.(c?js|d\.c?ts)$/,
      /^docs\/(guides|reference)\/([a-z]+\/)?[\w-]+\.(md|webp|json)$/,
    ],
    required: [
      'LICENSE',
      'CHANGELOG.md',
      'SKILL.md',
      'docs/reference/assumptions.md',
      'dist/web/index.js',
      'dist/browser.js',
      'dist/mcp-server.js',
      'dist/licenses.txt',
    ],
    largest: { unpackedSize: 3_985_000, size: 1_065 * 1024, entryCount: 197 },
  },
  'packed/context-gateway-emulator': {
    files: [
      /^(package\.json|README\.md|LICENSE|assumptions\.json)$/,
      /^dist\/[\w-]+\.(c?js|d\.c?ts)$/,
      /^dist\/licenses\.txt$/,
      /^dist\/inspector\/(index\.html|app\.css|app\.js)$/,
      /^docs\/[\w-]+\.(md|png)$/,
    ],
    required: ['LICENSE', 'assumptions.json', 'dist/inspector/app.js', 'dist/licenses.txt', 'dist/tokenizer.cjs'],
    largest: { unpackedSize: 6_650_000, size: 2_520 * 1024, entryCount: 60 },
  },
};
/** In bytes: what both packages and what they depend on take together. */
const LARGEST_INSTALL = 18_500_000;
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

const dependencies = new Set();
let installed = 0;
for (const [folder, { files, required, largest }] of Object.entries(PACKAGES)) {
  const [pack] = JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json'], { encoding: 'utf8', cwd: folder }));
  const packed = pack.files.map(({ path }) => path);
  const problems = [
    ...required.filter((file) => !packed.includes(file)).map((file) => `${file} is missing`),
    ...packed.filter((file) => !files.some((pattern) => pattern.test(file))).map((file) => `${file} does not belong`),
    ...packed.flatMap((file) => problemsOf(folder, file, packed)),
    ...Object.entries(largest).flatMap(([field, most]) =>
      pack[field] > most ? `its ${field} is ${pack[field]}, more than ${most}` : [],
    ),
  ];
  for (const problem of problems) fail(`${pack.name}: ${problem}`);
  console.log(
    `${pack.name}: ${pack.entryCount} files, ${kilobytes(pack.size)} packed, ${kilobytes(pack.unpackedSize)} unpacked`,
  );
  installed += pack.unpackedSize;
  for (const name of Object.keys(JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).dependencies))
    dependencies.add(name); // which have none of their own: npm run compat counts the packages
}
for (const name of dependencies) installed += sizeOf(`node_modules/${name}`);
console.log(`installed: ${kilobytes(installed)}, with ${[...dependencies].join(', ')}`);
if (installed > LARGEST_INSTALL) fail(`Both packages install ${installed} bytes, more than ${LARGEST_INSTALL}`);

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

function sizeOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(posix.join(parentPath, name)).size, 0);
}

function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(0)} KB`;
}

function fail(problem) {
  console.error(problem);
  process.exitCode = 1;
}
