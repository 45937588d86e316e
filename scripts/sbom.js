/** The software bill of materials of a package: what it brings with it, at the versions of our lock file. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** What a package has inside, and does not install. */
const INSIDE = {
  '.': ['@modelcontextprotocol/server'],
  emulator: ['@hono/node-server', '@preact/signals', 'gpt-tokenizer', 'hono', 'preact'],
};

/** Returns CycloneDX as text. `folder` is the package's: `.` or `emulator`. */
export function sbomOf(folder) {
  const { name, version, ...needs } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  const inside = INSIDE[folder].map((one) => [one, needs.devDependencies[one]]);
  const dependencies = { ...needs.dependencies, ...Object.fromEntries(inside) };
  const scratch = mkdtempSync(join(tmpdir(), 'sbom-'));
  // npm names the package after its folder, and in a workspace it leaves out what another package needs for development.
  const alone = join(scratch, name);
  const npm = (...args) => execFileSync('npm', [...args, '--package-lock-only'], { cwd: alone, encoding: 'utf8' });
  try {
    mkdirSync(alone);
    writeFileSync(join(alone, 'package.json'), JSON.stringify({ name, version, license: 'MIT', dependencies }));
    copyFileSync(join(ROOT, 'package-lock.json'), join(alone, 'package-lock.json'));
    npm('install', '--ignore-scripts', '--no-audit', '--no-fund');
    return npm('sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'library');
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
