/** Bundles an app with React Native's own Metro settings, compiles it with its Hermes, and runs React Native's JavaScript. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runWell } from './child.js';
import { install, versionOf } from './package-file.js';
import { checkTexts } from './projects.js';

const PACKAGES = ['react-native@0.88', '@react-native/metro-config@0.88', '@react-native/babel-preset@0.88'];
/** React Native 0.88 needs Node 22. */
const NODE = join(import.meta.dirname, 'node_modules/node22/bin/node');
const BUNDLE = `
  import Metro from 'metro';
  const config = await Metro.loadConfig({ cwd: process.cwd() });
  config.reporter = { update() {} };
  await Metro.runBuild(config, { entry: 'app.js', platform: 'ios', dev: false, minify: true, out: 'ios.bundle' });
  process.exit(0);
`;

/** Returns the checks as `[name, check]`. */
export function reactNativeChecks(file, folder, emulator) {
  const project = join(folder, 'react-native');
  return [
    [
      'React Native 0.88: an app bundled with its own Metro settings, and compiled by its Hermes',
      async () => {
        mkdirSync(project);
        writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'native', private: true }));
        const config = "module.exports = require('@react-native/metro-config').getDefaultConfig(__dirname);";
        writeFileSync(join(project, 'metro.config.js'), config);
        const preset = "module.exports = { presets: ['@react-native/babel-preset'] };";
        writeFileSync(join(project, 'babel.config.js'), preset);
        writeFileSync(join(project, 'bundle.mjs'), BUNDLE);
        cpSync(join(import.meta.dirname, 'projects/react-native-app.js'), join(project, 'app.js'));
        await install([file, ...PACKAGES], project, { PATH: `${join(NODE, '..')}:${process.env.PATH}` });
        await runWell([NODE, 'bundle.mjs'], { cwd: project, timeout: 600_000 });
        const code = readFileSync(join(project, 'ios.bundle.js'));
        const compiler = join(project, 'node_modules/hermes-compiler/hermesc/linux64-bin/hermesc');
        await runWell([compiler, '-w', '-O', '-emit-binary', '-out', 'ios.hbc', 'ios.bundle.js'], { cwd: project });
        return `${versionOf(project, 'react-native')}, ${(gzipSync(code).length / 1024).toFixed(0)} KB gzipped`;
      },
    ],
    [
      'React Native 0.88: a call, a stream, an error and an abort through its fetch',
      async () => {
        const bundle = join(project, 'ios.bundle.js');
        const program = [NODE, 'run-react-native.js', bundle, emulator.url, emulator.publishable];
        return checkTexts(await runWell(program), 'fetch');
      },
    ],
  ];
}
