/** Exports an app with Expo, which bundles it and compiles it with Hermes. Its install is the largest, so this runs weekly. */
import { cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runWell } from './child.js';
import { install } from './package-file.js';

/** Expo 56 with the versions that it names. */
const PACKAGES = ['expo@56.0.23', 'react-native@0.85.3', 'react@19.2.3'];

/** Returns the checks as `[name, check]`. */
export function expoChecks(file, folder) {
  return [
    [
      'Expo 56 exports an app that uses expo/fetch, for iOS',
      async () => {
        const project = join(folder, 'expo');
        mkdirSync(project);
        const manifest = { name: 'expo-app', private: true, main: 'index.js' };
        writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
        const app = { name: 'app', slug: 'app', platforms: ['ios'], ios: { bundleIdentifier: 'test.app' } };
        writeFileSync(join(project, 'app.json'), JSON.stringify({ expo: app }));
        cpSync(join(import.meta.dirname, 'projects/expo-app.js'), join(project, 'index.js'));
        await install([file, ...PACKAGES], project);
        const expo = [join(project, 'node_modules/.bin/expo'), 'export', '--platform', 'ios'];
        const env = { CI: '1', EXPO_OFFLINE: '1', EXPO_NO_TELEMETRY: '1' };
        await runWell(expo, { cwd: project, env, timeout: 600_000 });
        const output = join(project, 'dist/_expo/static/js/ios');
        const code = readdirSync(output).find((name) => name.endsWith('.hbc'));
        return `${(statSync(join(output, code)).size / 1024).toFixed(0)} KB of bytecode`;
      },
    ],
  ];
}
