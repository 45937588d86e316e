/** Counts lines of code, without comments and blank lines. A part of `npm run check`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Folders of `src` that are not the core: the entries, and the command. */
const BESIDE_CORE = ['conversation', 'redis', 'stores', 'otel', 'ai-sdk', 'cli'];

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  .map((file) => ({
    file,
    source: ts.createSourceFile(file, readFileSync(join('src', file), 'utf8'), ts.ScriptTarget.ESNext),
  }));

const isIn =
  (folder) =>
  ({ file }) =>
    file.startsWith(`${folder}/`);
const core = files.filter((one) => !BESIDE_CORE.some((folder) => isIn(folder)(one)));
console.log(
  `${linesOf(core)} lines of code in the core, ${linesOf(files.filter(isIn('conversation')))} in src/conversation`,
);

function linesOf(some) {
  return some.reduce((sum, { source }) => sum + codeLines(source), 0);
}

/** The lines on which a token starts or ends, or is in between. */
function codeLines(source) {
  const lines = new Set();
  const visit = (node) => {
    const children = node.getChildren(source);
    for (const child of children) if (!ts.isJSDoc(child)) visit(child);
    const start = node.getStart(source);
    if (children.length > 0 || start === node.end) return;
    const last = source.getLineAndCharacterOfPosition(node.end).line;
    for (let { line } = source.getLineAndCharacterOfPosition(start); line <= last; line += 1) lines.add(line);
  };
  visit(source);
  return lines.size;
}
