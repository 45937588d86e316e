/** Bundles a React Native app with Metro, and compiles and runs the result with Hermes. */
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runWell } from './child.js';
import { install } from './package-file.js';

const PACKAGES = ['metro@0.84.6', '@react-native/metro-babel-transformer@0.84', '@react-native/babel-preset@0.84'];
const HERMES = 'hermes-compiler@260318099.0.6';
/** The newest package with a VM, of 2022; and what React Native and Expo define around it. */
const VM = 'hermes-engine-cli@0.12.0';
const AROUND = [
  ...['abort-controller@3.0.0', 'buffer@6.0.3', 'punycode@2.3.1', 'text-encoding@0.7.0', 'web-streams-polyfill@3.3.3'],
  ...['whatwg-fetch@3.6.20', 'whatwg-url-without-unicode@7.0.0'],
];
/** The settings of React Native and Expo: Metro's own, with their conditions of `exports`. */
const BUNDLE = `
  import Metro from 'metro';
  const [platform, entry = 'app.js', out = platform] = process.argv.slice(2);
  const config = await Metro.loadConfig({ cwd: process.cwd() }, {
    projectRoot: process.cwd(),
    resetCache: true,
    reporter: { update() {} },
    transformer: { babelTransformerPath: new URL(import.meta.resolve('@react-native/metro-babel-transformer')).pathname },
    resolver: {
      unstable_conditionNames: ['require', 'react-native'],
      unstable_conditionsByPlatform: { web: ['browser'] },
      platforms: ['ios', 'android', 'web'],
    },
  });
  await Metro.runBuild(config, { entry, platform, dev: false, minify: true, out: out + '.bundle' });
  process.exit(0);
`;

export function metroChecks(file, folder) {
  const project = join(folder, 'metro');
  const bundle = async (platform) => {
    await runWell([process.execPath, 'bundle.mjs', platform], { cwd: project });
    const code = readFileSync(join(project, `${platform}.bundle.js`), 'utf8');
    const stray = [/undici/, /["'`]node:/].find((pattern) => pattern.test(code));
    if (stray !== undefined) throw new Error(`${stray} is in the bundle`);
    return `${(gzipSync(code, { level: 9 }).length / 1024).toFixed(0)} KB gzipped`;
  };
  return [
    [
      'Metro 0.84, iOS',
      async () => {
        mkdirSync(project);
        writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'metro-app', private: true }));
        writeFileSync(
          join(project, 'babel.config.js'),
          "module.exports = { presets: ['@react-native/babel-preset'] };",
        );
        writeFileSync(join(project, 'bundle.mjs'), BUNDLE);
        cpSync(join(import.meta.dirname, 'projects/app.js'), join(project, 'app.js'));
        await install([file, HERMES, VM, ...AROUND, ...PACKAGES], project);
        return bundle('ios');
      },
    ],
    ['Metro 0.84, web', () => bundle('web')],
    ['Hermes compiles the bundle for iOS', () => compile(project)],
    ['calls, streams and errors in the VM of Hermes 0.12', () => runInHermes(project)],
  ];
}

async function compile(project) {
  const hermes = createRequire(join(project, 'package.json')).resolve('hermes-compiler/package.json');
  const compiler = join(hermes, '../hermesc/linux64-bin/hermesc');
  await runWell([compiler, '-w', '-O', '-emit-binary', '-out', 'ios.hbc', 'ios.bundle.js'], { cwd: project });
  return `${(statSync(join(project, 'ios.hbc')).size / 1024).toFixed(0)} KB of bytecode`;
}

async function runInHermes(project) {
  for (const name of ['hermes.js', 'react-native.js'])
    cpSync(join(import.meta.dirname, 'projects', name), join(project, name));
  await runWell([process.execPath, 'bundle.mjs', 'ios', 'hermes.js', 'vm'], { cwd: project });
  const vm = join(project, 'node_modules/hermes-engine-cli/linux64-bin/hermes');
  const printed = await runWell([vm, '-w', 'vm.bundle.js'], { cwd: project });
  const results = printed.trim().split('\n');
  if (results.length !== 8 || !results.every((result) => result.endsWith(' true'))) throw new Error(printed);
  return 'with and without a streamed body';
}
