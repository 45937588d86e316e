/** Bundles a React Native app with Metro, and compiles the result for Hermes. */
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runWell } from './child.js';
import { install } from './package-file.js';

const PACKAGES = ['metro@0.84.6', '@react-native/metro-babel-transformer@0.84', '@react-native/babel-preset@0.84'];
const HERMES = 'hermes-compiler@260318099.0.6';
/** The settings of React Native and Expo: Metro's own, with their conditions of `exports`. */
const BUNDLE = `
  import Metro from 'metro';
  const [platform] = process.argv.slice(2);
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
  await Metro.runBuild(config, { entry: 'app.js', platform, dev: false, minify: true, out: platform + '.bundle' });
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
        await install([file, HERMES, ...PACKAGES], project);
        return bundle('ios');
      },
    ],
    ['Metro 0.84, web', () => bundle('web')],
    ['Hermes compiles the bundle for iOS', () => compile(project)],
  ];
}

async function compile(project) {
  const hermes = createRequire(join(project, 'package.json')).resolve('hermes-compiler/package.json');
  const compiler = join(hermes, '../hermesc/linux64-bin/hermesc');
  await runWell([compiler, '-w', '-O', '-emit-binary', '-out', 'ios.hbc', 'ios.bundle.js'], { cwd: project });
  return `${(statSync(join(project, 'ios.hbc')).size / 1024).toFixed(0)} KB of bytecode`;
}
