import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { publishedManifest, publishedReadme } from '../scripts/pack.js';

const DEVELOPMENT = ['private', 'workspaces', 'scripts', 'devDependencies', 'overrides', 'allowScripts'];

test.each(['.', 'emulator'])('the package of %s is published without what its development needs', (folder) => {
  const source = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const published = publishedManifest(folder);
  const readme = publishedReadme(folder);

  expect(source.private).toBe(true); // npm refuses to publish the folder itself
  expect(Object.keys(published)).toEqual(Object.keys(source).filter((field) => !DEVELOPMENT.includes(field)));
  expect(Object.keys(published)).toEqual(
    expect.arrayContaining(['name', 'version', 'license', 'repository', 'engines', 'exports', 'files', 'dependencies']),
  );
  expect(readme).toMatch(/^# context-gateway/);
  expect(readme).not.toMatch(/npm (ci|run|test|pack)\b(?!")|in a clone|<!--/i);
});

test('the page for agents has the front matter of a skill', () => {
  const [, frontMatter = ''] = /^---\n([\s\S]*?)\n---\n\n# /.exec(readFileSync('SKILL.md', 'utf8')) ?? [];

  expect(parse(frontMatter)).toEqual({
    name: 'context-gateway',
    description: expect.stringMatching(/^.{50,1024}$/),
  });
});
