import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('llms.txt lists every page, and llms-full.txt contains them with whole links', () => {
  const folder = mkdtempSync(join(tmpdir(), 'llms-'));
  execFileSync(process.execPath, ['scripts/llms.js', folder]);
  const [list, full] = ['llms.txt', 'llms-full.txt'].map((name) => readFileSync(join(folder, name), 'utf8'));
  rmSync(folder, { recursive: true });

  expect(list).toContain('/blob/main/SKILL.md): Two clients');
  const guides = readdirSync('docs/guides').filter((file) => file.endsWith('.md'));
  expect(list).toMatch(/^# context-gateway\n\n> [A-Z].+\n\n## Start\n\n- \[/);
  for (const guide of guides) {
    expect(list).toContain(`/blob/main/docs/guides/${guide})`);
    const [heading = ''] = readFileSync(`docs/guides/${guide}`, 'utf8').split('\n');
    expect(full).toContain(`<!-- docs/guides/${guide} -->\n\n${heading}\n`);
  }
  expect(full).not.toMatch(/\]\((?![a-z]+:|#)/);
});
