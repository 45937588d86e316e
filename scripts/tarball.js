/**
 * Checks the package to publish: it has all expected files and no others, no private data, and no broken link between
 * its pages.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

const EXPECTED = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  /^dist\/([a-z]+\/){0,2}[\w-]+\.(c?js|d\.c?ts)$/,
  /^dist\/[\w-]+\.c?js\.map$/,
  /^src\/([a-z-]+\/){0,2}[\w.-]+\.(ts|lua)$/,
  /^docs\/(guides|reference)\/([a-z]+\/)?[\w-]+\.(md|webp|json)$/,
];
const REQUIRED = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'docs/reference/assumptions.md',
  'dist/index.js',
  'dist/index.cjs',
  'dist/index.d.ts',
  'dist/web/index.js',
  'dist/browser.js',
  'dist/main.cjs',
];
/** The documented prefixes alone (`svc_sk_`, `svc_sk_local_…`) do not count as keys. */
const FORBIDDEN = {
  'a key of the service': /\b(svc_[sp]k_|session_local_)\w*[a-z0-9]{12,}/,
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  'a token of another service': /\b(npm_|gh[pousr]_|sk-|AKIA|eyJhbGciOi)[A-Za-z0-9_-]{16,}/,
  'a path of the machine it was built on':
    /(^|[\s"'`(])(\/(home|root|Users|work|tmp|builds?|var)\/\w|[A-Z]:\\\\?\w)|file:\/\/\//m,
  // The maps of Node's files are files of their own. Bundlers make their own from the others.
  'a source map': /[#@] ?sourceMappingURL=data:/,
  'a test': /from ['"]vitest['"]|require\(['"]vitest['"]\)/,
};
/** The largest sizes in bytes. Adding a large file should be a deliberate decision. */
/** `src` and the maps are 330 KB of it, packed: with them, a stack trace names the sources. */
const LARGEST = { unpackedSize: 4_200 * 1024, size: 1_200 * 1024 };
const MOST_FILES = 340;
/** The target of a Markdown link or image. */
const LINK = /\]\(([^)\s#]+)[^)]*\)/g;

const [pack] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' }),
);
const files = pack.files.map(({ path }) => path);
const problems = [];

if (files.length > MOST_FILES) problems.push(`it has ${files.length} files, more than ${MOST_FILES}`);
for (const file of REQUIRED) if (!files.includes(file)) problems.push(`${file} is missing`);
for (const file of files) {
  if (!EXPECTED.some((pattern) => pattern.test(file))) problems.push(`${file} does not belong in the package`);
  const text = readFileSync(file, 'utf8');
  for (const [what, pattern] of Object.entries(FORBIDDEN)) {
    // The guides contain example tests.
    if (what === 'a test' && file.endsWith('.md')) continue;
    const found = text.match(pattern);
    if (found !== null)
      problems.push(`${file} has ${what} in it, at line ${text.slice(0, found.index).split('\n').length}`);
  }
  if (file.endsWith('.md')) for (const target of brokenLinks(file, text)) problems.push(`${file} links to ${target}`);
}
for (const [field, most] of Object.entries(LARGEST))
  if (pack[field] > most) problems.push(`its ${field} is ${pack[field]} bytes, more than ${most}`);

for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${kilobytes(pack.size)} packed, ${kilobytes(pack.unpackedSize)} unpacked`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Relative links to files outside the package. Readers of an installed package have only its files. */
function brokenLinks(file, text) {
  const targets = [...text.matchAll(LINK)].map(([, target]) => target).filter((target) => !/^[a-z]+:/.test(target));
  return targets.filter((target) => !files.includes(posix.join(posix.dirname(file), target)));
}

function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(0)} KB`;
}
