/**
 * Compares the public types with the reports in `etc`, so that every change of them shows up in review. `npm run api`
 * updates the reports. Both read `dist`, so build first.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';

const MESSAGES = {
  compilerMessageReporting: { default: { logLevel: 'error' } },
  extractorMessageReporting: {
    default: { logLevel: 'error' },
    'ae-forgotten-export': { logLevel: 'none' }, // they are in the report; the message would name files of the build
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
        reportFileName: path === '.' ? 'context-gateway' : path.slice(2),
        includeForgottenExports: true,
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
    fail('The public types differ from etc. If that is intended: npm run api, and a line in CHANGELOG.md.');
  if (readFileSync(config.reportTempFilePath, 'utf8').includes('@internal'))
    fail('The public types show something marked @internal, which the build should leave out (stripInternal).');
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
