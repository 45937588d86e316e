/** The pages of examples. Each is made of the program itself: the comment that begins it, and its files. */
import { readdirSync, readFileSync } from 'node:fs';
import { linkTo } from './pages.js';

interface Example {
  name: string;
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

export const examples: readonly Example[] = readdirSync('examples', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => exampleOf(name))
  .sort((one, other) => one.name.localeCompare(other.name));

/** Where the page of an example is. */
export function addressOf({ name }: Example): string {
  return `/examples/${name}.md`;
}

/** The text of each page, by its name. */
export const pages: ReadonlyMap<string, string> = new Map([
  ['index', indexPage()],
  ...examples.map((each): [string, string] => [each.name, pageOf(each)]),
]);

/** What the search knows of a page: not its code, of which some is long. */
export function searchText(name: string): { title: string; text: string } {
  const found = examples.find((each) => each.name === name);
  return found === undefined
    ? { title: 'Examples', text: '' }
    : { title: name, text: `${found.summary} ${found.command ?? ''} ${found.files.join(' ')}` };
}

function indexPage(): string {
  const rows = examples.map((each) => `- [${each.name}](${addressOf(each)}): ${each.summary.replaceAll('\n', ' ')}`);
  return `# Examples\n\nEach runs in a clone of the repository as it stands, with an emulator of its own.\n\n${rows.join('\n')}\n`;
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

function exampleOf(name: string): Example {
  const folder = `examples/${name}`;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.([jt]sx?|html|css)$/.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length + 1))
    .filter((file) => !/^(\.next|node_modules)\//.test(file))
    .sort();
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
