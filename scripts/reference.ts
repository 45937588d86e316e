/**
 * Writes docs/reference from the doc comments: an entry for each method, with arguments, returns, errors, an example and
 * its output. `npm run reference`; with `--check` it only says which pages are out of date. The pages of
 * typedoc-plugin-markdown have twice as many words, call methods by their class (`Presets.list`), and run no example.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';
import {
  Application,
  type Comment,
  type DeclarationReflection,
  ReflectionKind,
  type SignatureReflection,
  type SomeType,
  TSConfigReader,
  TypeDocReader,
} from 'typedoc';

interface Page {
  file: string;
  title: string;
  text: string;
  /** The name by which examples call the object, and its class. */
  classes: readonly (readonly [name: string, type: string])[];
  /** Functions of these entries. */
  functionsOf?: readonly string[];
}

const EACH =
  'Each takes [options](options.md) as its last argument, and returns an [APIPromise](types-client.md#apipromise). What each may throw is listed with it; [errors](errors.md) has those of all calls, such as a wrong key or a broken connection.';
/** The conversation that examples use. */
const CONVERSATION = `\`\`\`ts
import { ContextClient, GatewayClient } from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';

const gateway = new GatewayClient();
const context = new ContextClient();
const conversation = createConversation({ gateway, context, conversationId: 'conv_sample', model: 'atlas-small' });
\`\`\``;
const PAGES: readonly Page[] = [
  {
    file: 'gateway',
    title: 'GatewayClient',
    text: `Every call of \`/v1\`, with an API key. ${EACH} The last two are methods of the stream that \`create\` returns with \`stream: true\`. \`gateway.fetch\` is a \`fetch\` for [other clients](../guides/from-openai.md#the-smallest-step).`,
    classes: [
      ['gateway', 'GatewayClient'],
      ['stream', 'ChatCompletionStream'],
    ],
  },
  {
    file: 'context',
    title: 'ContextClient',
    text: `Every call of \`/api\`, with a user's session token. ${EACH} \`request\`, \`withOptions\` and \`close\` are as in [GatewayClient](gateway.md).`,
    classes: [['context', 'ContextClient']],
  },
  {
    file: 'functions',
    title: 'Functions',
    text: 'Batches of calls, streams that a server relays to a browser, and errors for visitors.',
    classes: [],
    functionsOf: ['index'],
  },
  {
    file: 'conversations',
    title: 'Conversations',
    text: `What \`context-gateway/conversation\` exports. [The rules](conversation-rules.md) say how prompts are built, and what is stored when. The examples use this conversation:\n\n${CONVERSATION}`,
    classes: [['conversation', 'Conversation']],
    functionsOf: ['conversation', 'conversation/testing'],
  },
  {
    file: 'entries',
    title: 'The AI SDK, OpenTelemetry, Redis and databases',
    text: 'The functions of `context-gateway/ai-sdk`, `context-gateway/otel`, `context-gateway/redis` and `context-gateway/stores`.',
    classes: [],
    functionsOf: ['ai-sdk', 'otel', 'redis', 'stores'],
  },
];
/** A method or a function, and the page that has it. */
interface Entry {
  call: string;
  file: string;
  signatures: readonly SignatureReflection[];
}
/** A declaration, and the entry that has it. Types that a property reaches need not be exported. */
type Declared = DeclarationReflection & { entry: string; isExported: boolean };
interface TypePage {
  file: string;
  title: string;
  /** Of the sources. */
  folders: readonly string[];
}

/** A part of an argument's type. */
interface Part {
  /** Empty for a type without a name. */
  name: string;
  fields: readonly DeclarationReflection[];
}

/** Types that are in no folder of the other pages. */
const CLIENT_TYPES: TypePage = {
  file: 'types-client',
  title: 'Types of every client: responses, limits, events',
  folders: [],
};
const TYPE_PAGES: readonly TypePage[] = [
  { file: 'types-gateway', title: 'Types of the Gateway', folders: ['gateway'] },
  { file: 'types-context', title: 'Types of contexts and memory', folders: ['context'] },
  { file: 'types-conversation', title: 'Types of conversations', folders: ['conversation'] },
  {
    file: 'types-entries',
    title: 'Types of the AI SDK, OpenTelemetry, Redis and databases',
    folders: ['ai-sdk', 'otel', 'redis', 'stores'],
  },
  CLIENT_TYPES,
];
/** Interfaces whose fields are the options page. */
const OPTIONS = [
  'RequestOptions',
  'SchemaOptions',
  'ClientOptions',
  'GatewayClientOptions',
  'ContextClientOptions',
  'ConversationOptions',
  'TurnOptions',
];
const UNEXPORTED =
  "A type that is *not exported* is written by what has it: `ChatCompletion['choices'][number]`, `Extract<ClientEvent, { type: 'done' }>`, `Parameters<typeof mapCalls>[2]`.";
const FOLDER = 'docs/reference';
const NOTE = '<!-- Written by npm run reference, from the doc comments. -->';

const run = promisify(execFile);
const check = process.argv.includes('--check');
const project = await read();
const named = new Map(project.map((reflection) => [reflection.name, reflection]));
const problems: string[] = [];
const entries = PAGES.flatMap(entriesOf);
/** The entry that lists the fields of a type. Others link there. */
const homes = new Map<string, Entry>();
for (const entry of entries)
  for (const { name } of parametersOf(entry).flatMap(({ parts }) => parts))
    if (name !== '' && !OPTIONS.includes(name) && !homes.has(name)) homes.set(name, entry);
/** The page with the methods of a type. */
const methodPages = new Map(PAGES.flatMap((page) => page.classes.flatMap(([, type]) => resourcesOf(type, page))));
const pages = [
  ...PAGES.map((page) => ({ file: `${FOLDER}/${page.file}.md`, text: pageText(page) })),
  { file: `${FOLDER}/options.md`, text: optionsPage() },
  ...TYPE_PAGES.map((page) => ({ file: `${FOLDER}/${page.file}.md`, text: typesPage(page) })),
];
let written = 0;
for (const { file, text } of pages) {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  // An output is kept while its example is the same; the tests run the examples and compare.
  const known = new Map(
    [...before.matchAll(/^```ts\n((?:(?!```).*\n)*)```\n\n```text\n((?:(?!```).*\n)*)```$/gm)].map(([, a, b]) => [
      a,
      b,
    ]),
  );
  let complete = '';
  for (const part of text.split(/^(?=```ts\n)/m)) {
    const code = /^```ts\n([\s\S]*?)^```\n/m.exec(part)?.[1];
    const output = code && (known.get(code) ?? (check ? undefined : await outputOf(code)));
    complete += output ? part.replace(/^```\n/m, () => `\`\`\`\n\n\`\`\`text\n${output}\`\`\`\n`) : part;
  }
  if (complete === before) continue;
  written += 1;
  console.log(check ? `${file} is out of date: npm run reference` : file);
  if (!check) writeFileSync(file, complete);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 || (check && written > 0) ? 1 : 0;

/** The exported declarations of all entries, without duplicates, and the types that they reach, except those of the AI SDK. */
async function read(): Promise<Declared[]> {
  const app = await Application.bootstrapWithPlugins({ logLevel: 'Warn', sort: ['source-order'] }, [
    new TypeDocReader(),
    new TSConfigReader(),
  ]);
  const converted = await app.convert();
  if (converted === undefined) throw new Error('the sources do not compile');
  app.validate(converted);
  if (app.logger.hasWarnings()) throw new Error('a doc comment has a broken link, or a public type is not exported');
  for (const parameter of converted.getReflectionsByKind(ReflectionKind.Parameter))
    if (parameter.name === '__namedParameters') parameter.name = 'options'; // one that is destructured
  const declared = (converted.children ?? []).flatMap((module) => {
    const entry = module.name.replace(/\/index$/, '');
    return (module.children ?? []).flatMap((child) =>
      child.kind === ReflectionKind.Module
        ? (child.children ?? [])
            .filter((each) => isType(each) && entry !== 'ai-sdk')
            .map((each) => Object.assign(each, { entry, isExported: false }))
        : [Object.assign(child, { entry, isExported: true })],
    );
  });
  const reached = declared.filter(({ isExported }) => isExported);
  const names = new Set(reached.map(({ name }) => name));
  for (const one of reached) // which grows
    for (const other of declared)
      if (!names.has(other.name) && wordsIn(one).includes(other.name)) {
        names.add(other.name);
        reached.push(other);
      }
  return reached;
}

/** The names in the types of a declaration: of its fields, parameters and results. */
function wordsIn({ type, children = [], signatures = [], getSignature }: DeclarationReflection): string[] {
  const types = [
    type,
    getSignature?.type,
    ...signatures.flatMap((one) => [one.type, ...(one.parameters ?? []).map((each) => each.type)]),
  ];
  const members = children.filter(({ kind, flags }) => kind !== ReflectionKind.Constructor && !flags.isProtected);
  return [...types.flatMap((each) => String(each).match(/\w+/g) ?? []), ...members.flatMap(wordsIn)];
}

function pageText({ file, title, text }: Page): string {
  const sections = entries.filter((entry) => entry.file === file).map(entryText);
  return `# ${title}\n\n${NOTE}\n\n${text}\n\n${sections.join('\n')}`;
}

function entriesOf({ file, classes, functionsOf = [] }: Page): Entry[] {
  const functions = project.filter(
    ({ kind, entry }) => kind === ReflectionKind.Function && functionsOf.includes(entry),
  );
  return [
    ...functions.map((reflection) => ({ call: reflection.name, reflection })),
    ...classes.flatMap(([name, type]) => methodsOf(name, type)),
  ].map(({ call, reflection }) => ({ call, file, signatures: reflection.signatures ?? [] }));
}

/** The methods of a class, and of the resources that its properties hold: `gateway.chat.completions.create`. */
function methodsOf(name: string, type: string): { call: string; reflection: DeclarationReflection }[] {
  const owner = named.get(type);
  const members = (owner?.children ?? []).filter((member) => !member.name.startsWith('['));
  const resources = members.filter(({ kind }) => kind === ReflectionKind.Property);
  return [
    ...resources.flatMap((member) => {
      const held = member.type?.type === 'reference' ? named.get(member.type.name) : undefined;
      return held === undefined ? [] : methodsOf(`${name}.${member.name}`, held.name);
    }),
    ...members
      // What both clients inherit is on the page of the first.
      .filter(({ kind, inheritedFrom }) => kind === ReflectionKind.Method && (name !== 'context' || !inheritedFrom))
      .map((reflection) => ({ call: `${name}.${reflection.name}`, reflection })),
  ];
}

/** A type, the one that it extends, and those of its properties that have methods, each with the page of the methods. */
function resourcesOf(type: string, page: Page): [type: string, page: Page][] {
  const { children = [], extendedTypes = [] } = named.get(type) ?? {};
  const properties = children.filter(({ kind }) => kind === ReflectionKind.Property);
  const types = [...extendedTypes, ...properties.map((property) => property.type)];
  const resources = types.flatMap((each) => resourcesOf(typeName(each), page));
  const hasMethods = resources.length > 0 || children.some(({ kind }) => kind === ReflectionKind.Method);
  return hasMethods ? [[type, page], ...resources] : [];
}

function entryText(entry: Entry): string {
  const { call, file, signatures } = entry;
  const comment = longest(signatures)?.comment;
  const thrown = comment?.getTags('@throws').map(({ content, typeAnnotation }) => {
    const error = typeAnnotation?.slice(1, -1);
    return `- ${error === undefined ? '' : `\`${error}\` `}${plain(content).replaceAll('\n', ' ')}`;
  });
  const example = comment?.getTag('@example');
  if (example === undefined && file !== 'entries') problems.push(`${call} has no @example`);
  return [
    `## ${call}\n`,
    `\`${call}(${parametersOf(entry).map(({ argument }) => argument)})\`\n`.replaceAll(',', ', '),
    `${plain(comment?.summary ?? [])}\n`,
    ...argumentsTable(entry),
    `**Returns** ${returned(signatures)}\n`,
    ...(thrown?.length ? [`**Throws**\n\n${thrown.join('\n')}\n`] : []),
    ...(example === undefined ? [] : [`${exampleText(plain(example.content), entry)}\n`]),
  ].join('\n');
}

/** What the forms of a method return. Without the last one of several, which joins the others. */
function returned(signatures: readonly SignatureReflection[]): string {
  const forms = signatures.length > 2 ? signatures.slice(0, -1) : signatures;
  return [...new Set(forms.map(({ type }) => `${code(type)}${linksOf(type)}`))].join(', or ');
}

/** The parameters of an entry. Of an object of arguments or options, also the types that its fields come from. */
function parametersOf({ signatures }: Entry) {
  return (longest(signatures)?.parameters ?? []).map(({ name, type, comment, flags, defaultValue }) => {
    const isOptional = flags.isOptional || defaultValue !== undefined;
    const parts = /^(params|options|request)$/.test(name) ? partsOf(type) : [];
    return { name, type, comment, isOptional, parts, argument: `${name}${isOptional ? '?' : ''}` };
  });
}

function argumentsTable(entry: Entry): string[] {
  const rows = parametersOf(entry).flatMap(({ name, type, comment, isOptional, parts, argument }) =>
    parts.length === 0
      ? [`| \`${argument}\` | ${code(type, isOptional)} | ${plain(comment?.summary ?? [])} |`]
      : parts.flatMap((part) =>
          OPTIONS.includes(part.name) || (homes.get(part.name) ?? entry) !== entry
            ? [`| \`${argument}\` | ${typeLink(part.name)} | |`]
            : fieldRows(part, `${name}.`),
        ),
  );
  return rows.length === 0 ? [] : [`| argument | type | |\n|---|---|---|\n${rows.join('\n')}\n`];
}

/** The rows of fields. Those that another type has too are one row, with a link to it. */
function fieldRows({ name: type, fields }: Part, prefix = ''): string[] {
  const own = new Map(fields.map((field) => [field.name, row(prefix + field.name, field)]));
  const shared = basesOf(type).flatMap((base) => {
    const same = fieldsOf(base).filter((field) => own.get(field.name) === row(prefix + field.name, field));
    if (same.length < 2) return [];
    for (const { name } of same) own.delete(name);
    const names = same.map(({ name, flags }) => `\`${prefix}${name}${flags.isOptional ? '?' : ''}\``);
    const isWhole = prefix !== '' && same.length === fieldsOf(base).length;
    return [`| ${isWhole ? `\`${prefix.slice(0, -1)}\`` : names.join(', ')} | ${typeLink(base)} | |`];
  });
  return [...own.values(), ...shared];
}

/** The types whose fields a type may have too: those that it extends or joins, the options of a call, and unions of it. */
function basesOf(name: string): string[] {
  const { extendedTypes, type } = named.get(name) ?? {};
  const joined = type?.type === 'intersection' ? type.types.map(typeName) : [];
  const extended = [...joined, ...(String(extendedTypes ?? '').match(/\w+/g) ?? [])];
  const unions = [...named.values()].filter((union) => membersOf(union).includes(name));
  const all = new Set(['RequestOptions', ...extended, ...unions.map((union) => union.name)]);
  return [...all].filter((base) => base !== name);
}

/** The fields of a type; of a union, those that all its types inherit. */
function fieldsOf(name: string): readonly DeclarationReflection[] {
  const type = named.get(name);
  if (type === undefined || type.children) return type?.children ?? [];
  const [first = [], ...others] = membersOf(type).map(fieldsOf);
  return others.length === 0
    ? fieldsIn(type.type)
    : first.filter((field) => others.every((fields) => fields.includes(field)));
}

/** The fields of an object type, and of the types that it is joined with. */
function fieldsIn(type: SomeType | undefined): readonly DeclarationReflection[] {
  if (type?.type === 'intersection') return type.types.flatMap(fieldsIn);
  if (type?.type === 'reflection') return type.declaration.children ?? [];
  if (type?.type !== 'reference') return [];
  const [from, keys] = type.typeArguments ?? [];
  const isNamed = ({ name }: DeclarationReflection): boolean => String(keys).includes(`"${name}"`);
  if (type.name === 'Pick') return fieldsIn(from).filter(isNamed);
  return type.name === 'Omit' ? fieldsIn(from).filter((field) => !isNamed(field)) : fieldsOf(type.name);
}

/** The names of the types of a union. */
function membersOf({ type }: DeclarationReflection): string[] {
  const flat = (part: SomeType): string[] => (part.type === 'union' ? part.types.flatMap(flat) : [typeName(part)]);
  return type?.type === 'union' ? flat(type) : [];
}

/** A link to the fields of a type: among the options, at a method, or on a page of types. */
function typeLink(name: string): string {
  if (name === OPTIONS[0]) return '[options](options.md)'; // most calls take them
  const home = homes.get(name);
  if (home !== undefined) return linkTo(home, name);
  const type = named.get(name);
  const file = OPTIONS.includes(name) || type === undefined ? 'options' : typePageOf(type).file;
  return linkTo({ call: name, file });
}

/** A link to a heading. */
function linkTo({ call, file }: Pick<Entry, 'call' | 'file'>, text = call): string {
  return `[${text}](${file}.md#${call.toLowerCase().replaceAll('.', '')})`;
}

function row(name: string, field: DeclarationReflection): string {
  const signature = longest(field.signatures ?? []);
  const comment = field.comment ?? signature?.comment ?? field.getSignature?.comment;
  const summary = plain(comment?.summary ?? []).replaceAll('\n', ' ');
  const initial = comment?.getTag('@default');
  const text = initial === undefined ? summary : `${summary} Default: ${plain(initial.content).replaceAll('\n', ' ')}`;
  const type =
    signature === undefined ? code(field.type ?? field.getSignature?.type, field.flags.isOptional) : method(signature);
  return `| \`${name}${field.flags.isOptional ? '?' : ''}\` | ${type} | ${text.trim()} |`;
}

/** A method as a field of a table: `(id: string, options?: Options) => Promise<Item>`. */
function method({ parameters = [], type }: SignatureReflection): string {
  const list = parameters.map((parameter) => {
    const isOptional = parameter.flags.isOptional || parameter.defaultValue !== undefined;
    return `${parameter.name}${isOptional ? '?' : ''}: ${nameOf(parameter.type, isOptional)}`;
  });
  return `\`(${list.join(', ')}) => ${nameOf(type)}\``.replaceAll('|', '\\|');
}

/** Of several forms, the one with the longest comment: it is the general one. */
function longest(signatures: readonly SignatureReflection[]): SignatureReflection | undefined {
  return [...signatures].sort((a, b) => sizeOf(b.comment) - sizeOf(a.comment))[0];
}

function optionsPage(): string {
  const sections = OPTIONS.map((name) => {
    const rows = fieldRows({ name, fields: fieldsOf(name) }).join('\n');
    const summary = plain(named.get(name)?.comment?.summary ?? []);
    return `## ${name}\n\n${summary}\n\n| option | type | |\n|---|---|---|\n${rows}\n`;
  });
  return `# Options\n\n${NOTE}\n\nAll times are milliseconds.\n\n${sections.join('\n')}`;
}

function isType({ kind }: DeclarationReflection): boolean {
  return kind === ReflectionKind.Interface || kind === ReflectionKind.TypeAlias;
}

/** The exported types of a page, without those whose fields are listed elsewhere. */
function typesPage(page: TypePage): string {
  const types = [...named.values()]
    .filter((type) => isType(type) && typePageOf(type) === page)
    .filter(({ name }) => !OPTIONS.includes(name) && !homes.has(name))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
  const sections = types.map(({ name, comment, type, isExported }) => {
    const methods = methodPages.get(name);
    const fields = fieldsOf(name).filter((field) => isListed(field, methods));
    const rows = fieldRows({ name, fields }).join('\n');
    return [
      `## ${name}\n\n${plain(comment?.summary ?? [])}${isExported ? '' : ' *Not exported.*'}\n`,
      ...(methods === undefined ? [] : [`Its methods: [${methods.title}](${methods.file}.md).\n`]),
      ...(type === undefined || rows !== '' ? [] : [`\`${nameOf(type)}\`${linksOf(type)}\n`]),
      ...(rows === '' ? [] : [`| field | type | |\n|---|---|---|\n${rows}\n`]),
    ].join('\n');
  });
  return `# ${page.title}\n\n${NOTE}\n\n${UNEXPORTED}\n\n${sections.join('\n')}`;
}

/** Whether the page of a type lists a field: not what promises have, nor methods that have a page. */
function isListed({ name, kind, type, inheritedFrom }: DeclarationReflection, methods: Page | undefined): boolean {
  if (name === '[toStringTag]' || inheritedFrom?.name.startsWith('Promise.')) return false;
  if (methods === undefined || name.startsWith('[')) return true;
  return kind !== ReflectionKind.Method && !methodPages.has(typeName(type));
}

function typePageOf({ sources }: DeclarationReflection): TypePage {
  const folder = /src\/([\w-]+)\//.exec(sources?.[0]?.fullFileName ?? '')?.[1] ?? '';
  return TYPE_PAGES.find(({ folders }) => folders.includes(folder)) ?? CLIENT_TYPES;
}

/** Links to the object types that a type names. */
function linksOf(type: SomeType | undefined): string {
  const names = new Set(nameOf(type).match(/\w+/g));
  names.delete('APIPromise'); // the top of the page has the link
  const links = [...names].filter((name) => {
    const declared = named.get(name);
    return declared !== undefined && isType(declared);
  });
  return links.length === 0 ? '' : ` (${links.map(typeLink).join(', ')})`;
}

/** The parts of an argument's type that have fields: types that the package names, and object types without a name. */
function partsOf(type: SomeType | undefined): Part[] {
  if (type?.type === 'intersection' || type?.type === 'union') {
    const names = new Set<string>();
    const isNew = ({ name }: DeclarationReflection): boolean => !names.has(name) && Boolean(names.add(name));
    return type.types.flatMap(partsOf).map(({ name, fields }) => ({ name, fields: fields.filter(isNew) }));
  }
  if (type?.type === 'reflection') return [{ name: '', fields: type.declaration.children ?? [] }];
  const declared = named.get(typeName(type));
  const fields = declared && isType(declared) && declared.type?.type !== 'union' ? fieldsOf(declared.name) : [];
  return declared && fields.length > 0 ? [{ name: declared.name, fields }] : [];
}

/** A type as a reader writes it: without the `undefined` that a question mark says. */
function nameOf(type: SomeType | undefined, isOptional = false): string {
  const name = String(type).replace(/\s+/g, ' ');
  return isOptional ? name.replaceAll('undefined | ', '').replaceAll(' | undefined', '') : name;
}

function typeName(type: SomeType | undefined): string {
  return type?.type === 'reference' ? type.name : '';
}

function code(type: SomeType | undefined, isOptional = false): string {
  const text = nameOf(type, isOptional);
  return `\`${text}\``.replaceAll('|', '\\|');
}

/** The text of a comment. TypeDoc puts defaults in a code block. */
function plain(parts: Comment['summary']): string {
  const text = parts.map((part) => part.text).join('');
  return text.replace(/^```ts\n(.*)\n```$/s, '$1').trim();
}

function sizeOf(comment: Comment | undefined): number {
  return plain(comment?.summary ?? []).length + (comment?.blockTags.length ?? 0);
}

/** An example as a program: with the imports and clients that it uses. */
function exampleText(example: string, { file }: Entry): string {
  const isImport = (line: string): boolean => line.startsWith('import ');
  const lines = example.split('\n');
  const body = lines.filter((line) => !isImport(line)).join('\n');
  const uses = (name: string): boolean =>
    new RegExp(`(?<![\\w.'])${name}\\b[.,:]`).test(`${body}\n`.replaceAll(' }', ',')) &&
    !body.includes(`const ${name} `);
  // It needs another package or server, or the conversation of the page: the tests check its types, and do not run it.
  if (file === 'entries' || uses('conversation')) return `\`\`\`typescript\n${example}\n\`\`\``;
  const clients = [
    ['context', 'ContextClient'],
    ['gateway', 'GatewayClient'],
  ].filter(([name = '']) => uses(name));
  const imports = [
    ...clients.map(([, type]) => `import { ${type} } from 'context-gateway';`),
    ...lines.filter(isImport),
  ];
  const objects = clients.map(([name, type]) => `const ${name} = new ${type}();`);
  return `\`\`\`ts\n${[...joined(imports), '', ...objects, body.trim()].join('\n').trim()}\n\`\`\``;
}

/** One import for each module. */
function joined(imports: readonly string[]): string[] {
  const names = new Map<string, string[]>();
  for (const line of imports) {
    const [, list = '', from = ''] = /^import \{ (.*) \} from '(.*)';$/.exec(line) ?? [];
    names.set(from, [...(names.get(from) ?? []), ...list.split(', ')]);
  }
  return [...names].map(([from, list]) => `import { ${[...new Set(list)].join(', ')} } from '${from}';`);
}

/** What an example prints with a new emulator. */
async function outputOf(code: string): Promise<string> {
  await using emulator = createEmulator({ seed: 'dev', setup: addSampleConversation });
  const { url } = await emulator.listen({ port: 0 });
  // Inside the project, so that imports resolve.
  const folder = mkdtempSync('examples/.reference-');
  try {
    const program = `${folder}/example.ts`;
    writeFileSync(program, code);
    const { stdout } = await run(
      process.execPath,
      ['--import', 'tsx', '--import', './scripts/import-lua.js', program],
      {
        timeout: 60_000, // an example that does not end, such as one that leaves a stream open
        env: {
          CONTEXT_GATEWAY_BASE_URL: url,
          CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret,
          CONTEXT_GATEWAY_SESSION_TOKEN: emulator.sessionToken,
        },
      },
    );
    return stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`;
  } catch (error) {
    problems.push(String(error));
    return '';
  } finally {
    rmSync(folder, { recursive: true });
  }
}
