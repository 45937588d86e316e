/**
 * Writes `llms.txt` (llmstxt.org), which lists the pages of the documentation, and `llms-full.txt`, which contains them, so
 * that a model can read them. Part of `npm run docs`; the folder is the first argument, `site` by default.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { description } = JSON.parse(readFileSync('package.json', 'utf8'));
/** Pages are listed as the Markdown that they are made of. */
const HOME = 'https://github.com/context-gateway/context-gateway/blob/main/';
const SECTIONS = {
  Start: ['README.md', 'SKILL.md'],
  Guides: pagesIn('docs/guides'),
  Reference: pagesIn('docs/reference'),
  'The emulator': ['emulator/README.md', ...pagesIn('emulator/docs')],
  Stories: ['docs/stories/README.md'],
};
/** A Markdown link or image with a relative target. */
const RELATIVE_LINK = /\]\((?![a-z]+:|#)([^)\s]+)\)/g;

const folder = process.argv[2] ?? 'site';
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'llms.txt'), index());
writeFileSync(join(folder, 'llms-full.txt'), fullText());

function index() {
  const sections = Object.entries(SECTIONS).map(([name, pages]) => `## ${name}\n\n${pages.map(entryOf).join('\n')}`);
  return `# context-gateway\n\n> ${description}\n\n${sections.join('\n\n')}\n`;
}

/** A page with its title, its address and its first sentence. */
function entryOf(page) {
  const text = readFileSync(page, 'utf8');
  const title = /^# (.+)$/m.exec(text)?.[1];
  const paragraph = text.split(/\n\s*\n/).find((block) => /^[A-Z`]/.test(block)) ?? '';
  const [sentence = ''] = /^.*?(?:\.(?=\s|$)|:$)/s.exec(paragraph) ?? [];
  const plain = sentence.replace(/\s+/g, ' ').replace(/\[([^\]]+)\]\([^)]*\)/g, '$1');
  return `- [${title}](${HOME}${page})${plain === '' ? '' : `: ${plain.replace(/:$/, '.')}`}`;
}

function fullText() {
  const pages = Object.values(SECTIONS).flat();
  return `${pages.map((page) => `<!-- ${page} -->\n\n${withWholeLinks(page)}`).join('\n\n')}\n`;
}

/** Outside of its folder, only whole links lead somewhere. */
function withWholeLinks(page) {
  const text = readFileSync(page, 'utf8').trim();
  return text.replace(RELATIVE_LINK, (_, target) => `](${new URL(target, HOME + page)})`);
}

function pagesIn(directory) {
  const files = readdirSync(directory).filter((file) => file.endsWith('.md'));
  return files.sort().map((file) => `${directory}/${file}`);
}
