import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { AT_LENGTH } from './helpers/endurance.js';

interface Sbom {
  bomFormat: string;
  metadata: { component: { name: string; version: string } };
  components: { name: string; version: string }[];
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => JSON.parse(readFileSync(`${ROOT}/${path}`, 'utf8'));

/** What a release attaches. */
function sbomOf(folder: string): Sbom {
  const program = `import { sbomOf } from './scripts/sbom.js'; console.log(sbomOf('${folder}'));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT, encoding: 'utf8' }),
  );
}

test.runIf(AT_LENGTH).each(['.', 'emulator'])(
  'the SBOM of %s names what users install, and nothing of ours',
  (folder) => {
    const { name, version, dependencies } = read(`${folder}/package.json`);
    const { bomFormat, metadata, components } = sbomOf(folder);

    expect(bomFormat).toBe('CycloneDX');
    expect(metadata.component).toMatchObject({ name, version });
    const names = components.map((component) => component.name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    expect(names).not.toContain('vitest');
    const { packages } = read('package-lock.json');
    for (const component of components)
      if (component.name in dependencies)
        expect(component.version).toBe(packages[`node_modules/${component.name}`].version);
  },
  60_000,
);
