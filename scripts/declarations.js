/** Reads the built declarations as a compiler does: which names an entry exports, and everything a program can reach from them. */
import { resolve } from 'node:path';
import ts from 'typescript';

const OPTIONS = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  types: [],
  strict: true,
};

/**
 * For each entry `{ exports, declarations, imports }`: the exported names with their kind, the text of every declaration in
 * reach by name, and the packages they name. What an earlier entry has is not repeated by a later one.
 */
export function readDeclarations(files) {
  const service = languageService(files.map((file) => resolve(file)));
  const program = service.getProgram();
  const checker = program.getTypeChecker();
  const seen = new Set();
  return files.map((file) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(resolve(file)));
    const exports = new Map();
    const declarations = new Map();
    const imports = new Set();
    for (const symbol of checker.getExportsOfModule(module)) {
      const target = resolveAlias(checker, symbol);
      exports.set(symbol.name, kindOf(target, isTypeOnly(symbol)));
      collect(target);
    }
    return { exports, declarations, imports };

    function collect(symbol) {
      for (const declaration of symbol.declarations ?? []) {
        const statement = topLevelStatement(declaration);
        const source = declaration.getSourceFile();
        if (statement === undefined || seen.has(statement) || !isOurs(source)) continue;
        seen.add(statement);
        const hovers = hoversOf(statement, source);
        declarations.set(symbol.name, { text: textOf(statement, source), hovers });
        for (const name of identifiersOf(statement)) {
          const used = checker.getSymbolAtLocation(name);
          if (used === undefined) continue;
          if (isOurs(sourceOf(used)) && !isOurs(sourceOf(resolveAlias(checker, used)))) imports.add(importOf(used));
          collect(resolveAlias(checker, used));
        }
      }
    }
  });

  /** What an editor shows over each name of a declaration, without its comment. */
  function hoversOf(statement, source) {
    const names = [];
    const visit = (node) => {
      if (node.name !== undefined && ts.isIdentifier(node.name)) names.push(node.name);
      ts.forEachChild(node, visit);
    };
    visit(statement);
    return names.map((name) => {
      const info = service.getQuickInfoAtPosition(source.fileName, name.getStart(source));
      return { name: name.text, text: ts.displayPartsToString(info?.displayParts) };
    });
  }
}

/** A language service over files that do not change. */
function languageService(files) {
  return ts.createLanguageService({
    getCompilationSettings: () => OPTIONS,
    getScriptFileNames: () => files,
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => {
      const text = ts.sys.readFile(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => process.cwd(),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
  });
}

const isOurs = (source) => source?.fileName.startsWith(resolve('dist')) === true;
const sourceOf = (symbol) => symbol.declarations?.[0]?.getSourceFile();
const resolveAlias = (checker, symbol) =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

function isTypeOnly(symbol) {
  return symbol.declarations.some(
    (one) => ts.isExportSpecifier(one) && (one.isTypeOnly || one.parent.parent.isTypeOnly),
  );
}

function kindOf(symbol, typeOnly) {
  if (typeOnly || (symbol.flags & ts.SymbolFlags.Value) === 0) return 'type';
  if (symbol.flags & ts.SymbolFlags.Class) return 'class';
  return symbol.flags & ts.SymbolFlags.Function ? 'function' : 'const';
}

/** The statement of a file that a declaration is, or is in; none for members and parameters of others. */
function topLevelStatement(declaration) {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return ts.isSourceFile(statement.parent ?? statement) && statement.parent !== undefined ? statement : undefined;
}

/** With the comment that belongs to it, and not with what else stands before it, such as the file's own comment. */
function textOf(statement, source) {
  const comment = ts.getJSDocCommentsAndTags(statement).findLast(ts.isJSDoc);
  return source.text.slice(comment?.pos ?? statement.getStart(source), statement.end);
}

function identifiersOf(root) {
  const found = [];
  const visit = (node) => {
    if (ts.isIdentifier(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return found;
}

/** The import statement that brings a package's name in. */
function importOf(symbol) {
  let node = symbol.declarations[0];
  while (!ts.isImportDeclaration(node)) node = node.parent;
  return node.getText();
}
