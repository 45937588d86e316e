import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type DefaultTheme, defineConfig, type SiteConfig } from 'vitepress';
import { addressOf, examples, searchText } from './examples.js';
import { groupsOf, pagesIn, placeOf, siteLink, slugOf, titleOf } from './pages.js';

const REPOSITORY = 'https://github.com/context-gateway/context-gateway';
/** A line of badges. They are pictures from other hosts, which the site does not load. */
const BADGES = /^\[!\[.*\n/gm;

const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: 'Start',
    items: [
      { text: 'Overview', link: '/' },
      { text: 'Install', link: '/#install' },
      { text: 'The first stream', link: '/#a-completion-and-a-stream' },
      { text: 'The first conversation', link: '/#a-conversation' },
      { text: "The service's context", link: '/#the-services-context' },
      { text: 'Errors', link: '/#errors-and-limits' },
      { text: 'All guides', link: '/guides/' },
    ],
  },
  ...[...groupsOf('docs/guides/README.md')].map(([group, pages]) => section(group, pages, false)),
  section(
    'Reference',
    ['gateway', 'context', 'functions', 'conversations', 'entries', 'options', 'errors'].map(inReference),
  ),
  section(
    'Rules and names',
    ['retries', 'conversation-rules', 'ai-sdk', 'tracing', 'runtimes', 'versions', 'openai-names', 'assumptions'].map(
      inReference,
    ),
  ),
  section(
    'Types',
    ['gateway', 'context', 'conversation', 'entries', 'client'].map((name) => inReference(`types-${name}`)),
  ),
  section('The emulator', ['emulator/README.md', ...[...groupsOf('emulator/README.md').values()].flat()]),
  {
    text: 'Examples',
    collapsed: true,
    link: '/examples/',
    items: examples.map((each) => ({ text: each.name, link: addressOf(each) })),
  },
  section('The project', [
    'docs/stories/README.md',
    ...pagesIn('docs/internals'),
    ...pagesIn('docs/internals/decisions'),
    'CHANGELOG.md',
    'CONTRIBUTING.md',
  ]),
];

export default defineConfig({
  title: 'context-gateway',
  description:
    "A TypeScript SDK that calls language models through a gateway, and keeps conversations within the model's context window.",
  lang: 'en',
  srcDir: '..',
  outDir: '../site',
  cacheDir: '../node_modules/.vitepress',
  srcExclude: [
    'AGENTS.md',
    'SKILL.md',
    'SECURITY.md',
    ...foldersBeside('docs', 'emulator'),
    ...foldersBeside('emulator/docs'),
  ],
  rewrites: placeOf,
  head: [['link', { rel: 'icon', href: 'data:,' }]], // browsers ask for /favicon.ico otherwise
  vite: {
    publicDir: false,
    build: { chunkSizeWarningLimit: 2000 }, // the index of the search, which is loaded when someone searches
  },
  markdown: {
    anchor: { slugify: slugOf },
    attrs: { disable: true }, // braces are code here
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      md.core.ruler.before('normalize', 'badges', (state) => {
        state.src = state.src.replace(BADGES, '');
      });
      md.core.ruler.push('empty-headers', ({ tokens }) => {
        tokens.forEach((token, at) => {
          const isEmpty = token.type === 'th_open' && tokens[at + 1]?.content === '';
          for (const each of isEmpty ? [token, tokens[at + 2]] : []) if (each) each.tag = 'td'; // a header needs a text
        });
      });
      md.core.ruler.push('links', ({ tokens, env }) => {
        if (env.realPath === undefined) return; // the search needs no links
        const page = relative('.', env.realPath);
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const link = token.type === 'link_open' ? token.attrGet('href') : null;
          if (link !== null) token.attrSet('href', siteLink(page, link));
        }
      });
    },
  },
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/guides/', activeMatch: '^/guides/' },
      { text: 'Reference', link: '/reference/gateway', activeMatch: '^/reference/' },
      { text: 'Emulator', link: '/emulator/', activeMatch: '^/emulator/' },
      { text: 'Examples', link: '/examples/', activeMatch: '^/examples/' },
      { text: 'Stories', link: '/stories/', activeMatch: '^/stories/' },
    ],
    sidebar,
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    search: {
      provider: 'local',
      options: {
        // Without the colours of code, which take most of the time.
        _render: (text, env, md) => {
          const { highlight } = md.options;
          md.set({ highlight: null });
          try {
            return md.render(text, env);
          } finally {
            md.set({ highlight });
          }
        },
        miniSearch: {
          // "retry" finds "retries".
          options: {
            processTerm: (term) =>
              term
                .toLowerCase()
                .replace(/ies$/, 'y')
                .replace(/([^s])s$/, '$1'),
          },
          // A page that explains something comes before the tables of types that name it.
          searchOptions: { boostDocument: (id) => (/\/(types-|internals)/.test(String(id)) ? 0.3 : 1) },
          // VitePress does not read pages that are made from data.
          _splitIntoSections: (file) => {
            const name = /docs\/examples\/(.*)\.md$/.exec(file)?.[1];
            if (name === undefined) return undefined as unknown as []; // then it does it itself, which its type does not say
            const { title, text } = searchText(name);
            return [{ anchor: '', titles: [title], text }];
          },
        },
      },
    },
  },
  buildEnd: everyPageIsListed,
});

function section(text: string, pages: readonly string[], isFolded = true): DefaultTheme.SidebarItem {
  const items = pages.map((page) => ({ text: titleOf(page), link: `/${placeOf(page)}` }));
  // A folded section without a link is a button inside a button, which a screen reader cannot use.
  return isFolded ? { text, collapsed: true, link: items[0]?.link ?? '/', items } : { text, items };
}

/** The folders beside these, which have no pages. */
function foldersBeside(...folders: string[]): string[] {
  const parent = dirname(folders[0] ?? '');
  const entries = readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const beside = entries.map(({ name }) => join(parent, name)).filter((folder) => !folders.includes(folder));
  return beside.map((folder) => `${folder}/**`);
}

function inReference(name: string): string {
  return `docs/reference/${name}.md`;
}

/** Fails where a new page is in no list, so that only the search finds it. */
function everyPageIsListed({ pages, rewrites }: SiteConfig): void {
  const links = new Set(sidebar.flatMap(({ link, items = [] }) => [link, ...items.map((item) => item.link)]));
  const unlisted = pages.filter((page) => {
    const address = `/${rewrites.map[page] ?? page}`;
    return !links.has(address) && !links.has(address.replace(/index\.md$/, ''));
  });
  if (unlisted.length > 0) throw new Error(`No list of docs/.vitepress/config.ts has ${unlisted.join(', ')}`);
}
