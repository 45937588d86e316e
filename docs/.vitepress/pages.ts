/** The pages of the site: files of the repository, which stay where they are. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';

const REPOSITORY = 'https://github.com/context-gateway/context-gateway';
/** The address of a file or folder in the repository. */
const IN_REPOSITORY = new RegExp(`^${REPOSITORY}/(?:blob|tree)/main/`);

/** Whether a file of the repository is a page. */
function isPage(file: string): boolean {
  return /^(README|CHANGELOG|CONTRIBUTING|docs\/.*|emulator\/README|emulator\/docs\/.*)\.md$/.test(file);
}

/** Where a page is on the site: `docs/guides/README.md` becomes `guides/index.md`. */
export function placeOf(page: string): string {
  return page.replace(/^(emulator\/)?docs\//, '$1').replace(/(^|\/)README\.md$/, '$1index.md');
}

/** The first heading of a page, as plain text. */
export function titleOf(page: string): string {
  return (/^# (.+)$/m.exec(readFileSync(page, 'utf8'))?.[1] ?? page).replaceAll('`', '');
}

/** The pages of a folder, besides its index. */
export function pagesIn(folder: string): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.md') && !/README|\[/.test(file));
  return files.sort().map((file) => `${folder}/${file}`);
}

/** The pages that the tables of an index link to, in their order, below the group (`| **Group** | |`) that they are in. */
export function groupsOf(index: string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  let group = '';
  for (const row of readFileSync(index, 'utf8').match(/^\|.*\|$/gm) ?? []) {
    group = /^\| \*\*(.+)\*\* \|/.exec(row)?.[1] ?? group;
    const links = [...row.matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, target = '']) => inFolderOf(index, target));
    if (links.length > 0) groups.set(group, [...(groups.get(group) ?? []), ...links]);
  }
  return groups;
}

/**
 * Where a link of a page leads on the site. Links to pages lead to pages, also those that name them by their address in the
 * repository, and links to other files lead to the repository.
 */
export function siteLink(page: string, link: string): string {
  if (/^[#/]/.test(link) || (/^[a-z]+:/.test(link) && !IN_REPOSITORY.test(link))) return link;
  const [path = '', heading] = link.split('#', 2);
  const file = IN_REPOSITORY.test(path) ? decodeURI(path.replace(IN_REPOSITORY, '')) : inFolderOf(page, path);
  if (!existsSync(file)) throw new Error(`${page} links to ${link}, which does not exist`);
  return `${linkTo(file)}${heading === undefined || heading === 'readme' ? '' : `#${heading}`}`; // GitHub's name for the top
}

/** A link to a file or folder: to its page, if it has one. */
export function linkTo(file: string): string {
  const isFolder = statSync(file).isDirectory();
  const page = isFolder ? `${file}/README.md` : file;
  if (isPage(page) && existsSync(page)) return `/${placeOf(page)}`;
  return `${REPOSITORY}/${isFolder ? 'tree' : 'blob'}/main/${file}`;
}

/** The fragment of a heading, as GitHub makes it, so that a link works in both places. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function inFolderOf(page: string, target: string): string {
  return posix.join(posix.dirname(page), target);
}
