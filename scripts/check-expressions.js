/**
 * Looks for regular expressions that may take more than linear time, in `src` and `emulator/src`: with scslre, for look-behinds of
 * unlimited length, which are read again at each position, and for those that are made at run time. A comment says why one
 * is harmless, on its line or above it: `// linear: only for words of at most 40 letters`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import ts from 'typescript';

const EXPLAINED = '// linear: ';

for (const root of ['src', 'emulator/src'])
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    if (/\.tsx?$/.test(name) && !name.endsWith('.d.ts')) checkFile(join(root, name));

function checkFile(file) {
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext);
  const visit = (node) => {
    const problem = problemOf(node, source);
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    if (problem !== undefined && !`${lines[line - 1]}${lines[line]}`.includes(EXPLAINED)) {
      console.log(
        `${file}:${line + 1}: may take more than linear time (${problem}). Change it, or explain: ${EXPLAINED}…`,
      );
      process.exitCode = 1;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function problemOf(node, source) {
  if (ts.isNewExpression(node) && node.expression.getText(source) === 'RegExp') return 'made at run time';
  if (!ts.isRegularExpressionLiteral(node)) return undefined;
  const [, expression, flags] = /^\/(.*)\/(\w*)$/.exec(node.text);
  if (/\(\?<[=!][^)]*[*+]/.test(expression.replace(/\[[^\]]*\]/g, 'x').replace(/\\./g, 'x')))
    return 'a look-behind of unlimited length';
  const [report] = analyse({ source: expression, flags }).reports;
  return report && (report.exponential ? 'exponential' : report.type);
}
