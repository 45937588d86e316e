/**
 * Compares the public types with the reports in `etc`, so that every change of them shows up in review, and with the values
 * at run time. `npm run reference` updates the reports. It reads `dist`, so build first.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';

const MESSAGES = {
  compilerMessageReporting: { default: { logLevel: 'error' } },
  extractorMessageReporting: {
    default: { logLevel: 'error' },
    'ae-forgotten-export': { logLevel: 'none' }, // the message would name files of the build
    'ae-missing-release-tag': { logLevel: 'none' },
    'ae-undocumented': { logLevel: 'none' },
  },
  // Our comments are JSDoc for editors, which TSDoc rejects: `@default 2`, `@throws {NotFoundError}`.
  tsdocMessageReporting: { default: { logLevel: 'none' } },
};

const write = process.argv.includes('--write');
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const entries = Object.entries(exports).filter(([, target]) => typeof target === 'object');
const configs = entries.map(([path, target]) =>
  ExtractorConfig.prepare({
    packageJsonFullPath: resolve('package.json'),
    configObject: {
      projectFolder: resolve('.'),
      mainEntryPointFilePath: resolve(target.import.types),
      compiler: { tsconfigFilePath: resolve('scripts/tsconfig.consumer.json') },
      newlineKind: 'lf',
      apiReport: {
        enabled: true,
        reportFolder: resolve('etc'),
        reportTempFolder: resolve('node_modules/.cache/api-extractor'),
        reportFileName: fileOf(path),
        includeForgottenExports: path === '.', // most of the others' are exported from there
      },
      messages: MESSAGES,
    },
  }),
);
const additionalEntryPoints = configs.map((config) => config.mainEntryPointFilePath);
const compilerState = CompilerState.create(configs[0], { additionalEntryPoints });

for (const config of configs) {
  const options = { compilerState, messageCallback, localBuild: write, printApiReportDiff: true };
  const { succeeded, apiReportChanged } = Extractor.invoke(config, options);
  if (!succeeded) process.exitCode = 1;
  if (apiReportChanged && !write)
    fail('The public types differ from etc. If that is intended: npm run reference, and a line in CHANGELOG.md.');
  if (readFileSync(config.reportTempFilePath, 'utf8').includes('@internal'))
    fail('The public types show something marked @internal, which the build should leave out (stripInternal).');
}

for (const [path, { import: target }] of entries) {
  const declared = declaredValues(resolve(target.types));
  const values = Object.keys(await import(resolve(target.node ?? target.default)));
  if (declared.sort().join() !== values.sort().join())
    fail(`The values of ${path} differ from its types:\n  ${values.join(', ')}\n  ${declared.join(', ')}`);
}

/** The names that a declaration file promises at run time. */
function declaredValues(file) {
  const checker = compilerState.program.getTypeChecker();
  const entry = checker.getSymbolAtLocation(compilerState.program.getSourceFile(file));
  return checker.getPropertiesOfType(checker.getTypeOfSymbol(entry)).map(({ name }) => name);
}

/** The name of an entry's report. */
function fileOf(path) {
  return path === '.' ? 'context-gateway' : path.slice(2).replaceAll('/', '-');
}

/** Of the tool's messages about reports, prints only the diff. */
function messageCallback(message) {
  if (message.category !== 'console' || message.logLevel === 'error') return;
  if (message.messageId === 'console-api-report-diff') console.error(message.text);
  message.handled = true;
}

function fail(problem) {
  console.error(problem);
  process.exitCode = 1;
}
