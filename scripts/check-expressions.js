/**
 * Looks for regular expressions that take more than linear time, in `src` and `emulator/src`: with scslre, and for look-behinds of
 * unlimited length, which are read again at each position. Those that are harmless are listed with a reason.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import ts from 'typescript';

/** Why an expression is harmless: its file, how it begins, and the reason. */
const HARMLESS = [
  ['src/errors/redactor.ts', 'new RegExp(secret.replace', 'a literal text, found from one place on at a time'],
  [
    'src/rate-limit/headers.ts',
    '/([\\d.]+)(ms|[dhms])/g',
    'only for texts that DURATION matches: each number has its unit',
  ],
  ['src/conversation/context/same-words.ts', '/(?<!e|^[^aeiouy]*', 'only for words of at most 40 letters'],
  ['src/conversation/search/passages.ts', '/[^\\n]*\\n|', 'the next alternative takes the same line'],
  ['src/conversation/search/passages.ts', 'new RegExp(`[^]{1,', 'at most 360 characters at a time'],
  ['src/conversation/search/words.ts', '/(?<![\\p{L}\\p{N}])[-−]', 'the next alternative takes the same digits'],
  ['emulator/src/text/same-words.ts', '/(?<![\\p{L}\\p{N}])[-−]', 'the next alternative takes the same digits'],
  ['emulator/src/cli/assume.ts', '/^(.*?)=(.*)$/s', 'after the first =, the rest always matches'],
  [
    'emulator/src/completions/responder.ts',
    '/(?<=\\S\\s+)\\p{Lu}',
    'each run of spaces is read once: for the capital after it',
  ],
  ['emulator/src/completions/responder.ts', '/^[ \\t]*(?:<', 'after a heading, the rest of the line always matches'],
  ['emulator/src/control/bodies.ts', 'new RegExp(', 'an expression of the developer, in his own emulator'],
  ['emulator/src/text/excerpt.ts', 'new RegExp(wanted.replace', 'a literal text'],
  ['emulator/src/upstream/upstream-source.ts', '/\\/+$/', 'an address of the developer'],
  [
    'emulator/src/http/log/said.ts',
    'new RegExp(`"',
    'at most 64 KB, and where it begins again, the last text has ended',
  ],
  ['emulator/src/http/log/subject.ts', 'new RegExp(`"', 'the name of a field, and spaces that only the colon ends'],
];

const found = [];
for (const root of ['src', 'emulator/src'])
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    if (/\.tsx?$/.test(name) && !name.endsWith('.d.ts')) expressionsIn(join(root, name));
const isHarmless = ({ file, text }) => HARMLESS.some(([one, start]) => one === file && text.startsWith(start));
for (const { file, text, problem } of found.filter((one) => !isHarmless(one)))
  fail(
    `${file}: ${text} may take more than linear time (${problem}). Change it, or say in this script why it is harmless.`,
  );
for (const [file, start] of HARMLESS)
  if (!found.some((one) => one.file === file && one.text.startsWith(start)))
    fail(`${file}: ${start}… is listed as harmless, and not found any more.`);

function fail(message) {
  console.log(message);
  process.exitCode = 1;
}

function expressionsIn(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext);
  const visit = (node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const text = node.getText(source);
      const problem = problemOf(text);
      if (problem !== undefined) found.push({ file, text, problem });
    }
    if (ts.isNewExpression(node) && node.expression.getText(source) === 'RegExp')
      found.push({ file, text: node.getText(source).slice(0, 100), problem: 'made at run time' });
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function problemOf(text) {
  const end = text.lastIndexOf('/');
  const [expression, flags] = [text.slice(1, end), text.slice(end + 1)];
  if (/\(\?<[=!][^)]*[*+]/.test(expression.replace(/\[[^\]]*\]/g, 'x').replace(/\\./g, 'x')))
    return 'a look-behind of unlimited length';
  const { reports } = analyse({ source: expression, flags });
  const kinds = new Set(reports.map(({ type, exponential }) => (exponential ? 'exponential' : type)));
  return kinds.size === 0 ? undefined : [...kinds].join(', ');
}
