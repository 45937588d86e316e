/** The pages of examples. Each is made of the program itself: the comment that begins it, and its files. */
import { readdirSync, readFileSync } from 'node:fs';
import { linkTo } from './pages.js';

interface Example {
  name: string;
  /** Its folder, or that of all examples. */
  folder: string;
  /** In that folder, the program first. */
  files: string[];
  /** What it does, in Markdown. */
  summary: string;
  /** What starts it. */
  command: string | undefined;
}

/** How a program says what starts it. */
const RUN = /\s*Run: (npm run(?: [\w[\]-]+)+)\.?/;

/** One task each. */
export const tasks: readonly Example[] = readdirSync('examples')
  .filter((file) => file.endsWith('.ts'))
  .sort()
  .map((file) => example(file.replace('.ts', ''), 'examples', [file]));

export const programs: readonly Example[] = ['demo', 'chat'].map((name) => inFolder(name, `examples/${name}`));

export const apps: readonly Example[] = readdirSync('examples/apps', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => inFolder(name, `examples/apps/${name}`))
  .sort((one, other) => one.name.localeCompare(other.name));

const all = [...tasks, ...programs, ...apps];

/** Where the page of an example is. */
export function addressOf({ name }: Example): string {
  return `/examples/${name}.md`;
}

/** The text of each page, by its name. */
export const pages: ReadonlyMap<string, string> = new Map([
  ['index', indexPage()],
  ...all.map((each): [string, string] => [each.name, pageOf(each)]),
]);

/** What the search knows of a page: not its code, of which some is long. */
export function searchText(name: string): { title: string; text: string } {
  const found = all.find((each) => each.name === name);
  return found === undefined
    ? { title: 'Examples', text: '' }
    : { title: name, text: `${found.summary} ${found.command ?? ''} ${found.files.join(' ')}` };
}

function indexPage(): string {
  const list = (examples: readonly Example[]) =>
    examples.map((each) => `- [${each.name}](${addressOf(each)}): ${each.summary.replaceAll('\n', ' ')}`).join('\n');
  const sections = [
    'Each runs in a clone of the repository as it stands, against an emulator of its own.',
    ...['## One task', list(tasks)],
    ...['## In the terminal', list(programs)],
    ...['## Apps', list(apps)],
  ];
  return `# Examples\n\n${sections.join('\n\n')}\n`;
}

function pageOf({ name, folder, files, summary, command }: Example): string {
  const start = command === undefined ? [] : [`\`\`\`sh\n${command}\n\`\`\``];
  const code = files.flatMap((file) => [
    ...(files.length > 1 ? [`## \`${file}\``] : []),
    `[In the repository](${linkTo(`${folder}/${file}`)})`,
    `\`\`\`\`${file.split('.').at(-1)}\n${readFileSync(`${folder}/${file}`, 'utf8').trimEnd()}\n\`\`\`\``,
  ]);
  return `# ${name}\n\n${[summary, ...start, ...code].join('\n\n')}\n`;
}

function inFolder(name: string, folder: string): Example {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.([jt]sx?|html|css)$/.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length + 1))
    .filter((file) => !/^(\.next|node_modules)\//.test(file))
    .sort();
  return example(name, folder, files);
}

function example(name: string, folder: string, files: string[]): Example {
  const comments = new Map(files.map((file) => [file, commentOf(readFileSync(`${folder}/${file}`, 'utf8'))]));
  const main = files.find((file) => RUN.test(comments.get(file) ?? '')) ?? files.find((file) => comments.get(file));
  const comment =
    comments.get(main ?? '') || 'The app of a [guide](/guides/chat-page.md): a page with `useChat`, in Next.js.';
  const [, command] = RUN.exec(comment) ?? [];
  const ordered = files.sort((one, other) => Number(other === main) - Number(one === main));
  return { name, folder, files: ordered, summary: comment.replace(RUN, '').trim(), command };
}

/** The comment that begins a program, without its stars. */
function commentOf(code: string): string {
  const [, text = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(code) ?? [];
  return text.replace(/^ \* ?/gm, '').trim();
}
