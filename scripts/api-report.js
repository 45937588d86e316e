/**
 * Compares the public types with the reports in `etc`, so that every change of them shows up in review, and with the
 * program that every kind of project compiles. `npm run reference` updates both. They read `dist`, so build first.
 */
import { readFileSync, writeFileSync } from 'node:fs';
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

const EVERY_NAME = 'compat/projects/every-name.ts';
/** A public name in a report. */
const NAME = /^export (?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/gm;

const write = process.argv.includes('--write');
if (write) writeFileSync(EVERY_NAME, 'export {};\n'); // it may name what no longer exists
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

const everyName = await reexports();
if (write) writeFileSync(EVERY_NAME, everyName);
else if (readFileSync(EVERY_NAME, 'utf8') !== everyName) fail(`${EVERY_NAME} differs from etc: npm run reference`);

/** A program that re-exports each public name under its entry, as a value if it exists at run time. */
async function reexports() {
  const lines = ['// Generated from etc by `npm run reference`.'];
  for (const [path, { import: target }] of entries) {
    if (path === './otel') continue; // its types need @opentelemetry/api
    const name = fileOf(path);
    const names = Array.from(readFileSync(`etc/${name}.api.md`, 'utf8').matchAll(NAME), ([, one]) => one);
    const values = Object.keys(await import(resolve(target.node ?? target.default)));
    const entry = path === '.' ? name : `context-gateway/${path.slice(2)}`;
    for (const one of [...new Set(names)].sort()) {
      const exported = `${one} as ${name.replaceAll('-', '_')}_${one}`;
      lines.push(`export { ${values.includes(one) ? '' : 'type '}${exported} } from '${entry}';`);
    }
    // A missing or an extra value does not compile.
    lines.push(`export const values_${name.replaceAll('-', '_')}: Record<keyof typeof import('${entry}'), 0> = {`);
    lines.push(...values.sort().map((one) => `  ${one}: 0,`), '};');
  }
  return `${lines.join('\n')}\n`;
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
