import { html } from 'hono/html';
import type { JsonSchema, OpenApi, Operation } from './openapi.js';
import { type Markup, page } from './pages.js';

/** The description as a page. `origin` is the emulator's origin, for the commands to copy. */
export function referencePage(description: OpenApi, origin: string): Response {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sections = description.tags.map(
    (tag) => html`<h2 id="${anchor(tag.name)}">${tag.name}</h2>
<p class="quiet">${tag.description}</p>
${operations.filter(({ operation }) => operation.tags.includes(tag.name)).map((one) => operationBlock(one, origin))}`,
  );
  const schemas = Object.entries(description.components.schemas).map(
    ([name, schema]) => html`<h3 id="schema-${name}">${name}</h3>
<pre>${typeMarkup(schema)}</pre>
`,
  );
  return page(
    'API of the emulator',
    html`<main>
<h1>API of the emulator</h1>
<p>${description.info.description} Also as <a href="/_emulator/openapi.json">OpenAPI 3.1</a>.</p>
<nav aria-label="Sections">
${description.tags.map(({ name }) => html`<a href="#${anchor(name)}">${name}</a>\n`)}<a href="#types">Types</a>
<a href="/_emulator">Inspector</a>
</nav>
${sections}
<h2 id="types">Types</h2>
${schemas}
</main>`,
  );
}

interface OneOperation {
  path: string;
  method: string;
  operation: Operation;
}

function operationBlock({ path, method, operation }: OneOperation, origin: string): Markup {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const rows = parameters.map(
    ({ name, in: place, required, schema, description }) =>
      html`<tr><td><code>${name}</code><td>${place}${required ? '' : ', optional'}<td><code>${typeMarkup(schema)}</code> ${description ?? ''}
`,
  );
  return html`<details id="${operationId}">
<summary><span class="method">${method}</span><span class="path">${path}</span><span class="what">${summary}</span></summary>
<div>
${rows.length === 0 ? '' : html`<h3>Parameters</h3>\n<table>${rows}</table>\n`}${requestBody === undefined ? '' : bodies('Body', requestBody.content)}
${Object.entries(responses).map(([status, { content }]) => bodies(status === 'default' ? 'Error' : status, content))}
<h3>Try it</h3>
<pre>${curl({ path, method, operation }, origin)}</pre>
</div>
</details>
`;
}

function bodies(title: string, content: Record<string, { schema: JsonSchema }>): Markup[] {
  return Object.entries(content).map(
    ([type, { schema }]) => html`<h3>${title} <span class="quiet">${type}</span></h3>
<pre>${typeMarkup(schema)}</pre>
`,
  );
}

/** A command with placeholders in angle brackets. */
function curl({ path, method, operation }: OneOperation, origin: string): string {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query' && parameter.required);
  const search = query.map(({ name }) => `${name}=<${name}>`).join('&');
  const address = `${origin}${path.replace(/\{(\w+)\}/g, '<$1>')}${search === '' ? '' : `?${search}`}`;
  const [scheme] = Object.keys(operation.security[0] ?? {});
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${address}'`];
  if (scheme !== undefined) lines.push(`-H 'Authorization: Bearer <${scheme}>'`);
  const types = Object.keys(operation.requestBody?.content ?? {});
  if (types.includes('application/json')) lines.push("-H 'Content-Type: application/json' -d '{ ... }'");
  if (types.includes('multipart/form-data')) lines.push("-F 'file=@<file>' -F 'purpose=<purpose>'");
  return lines.join(' \\\n  ');
}

/** The type as text, with links to named types. */
function typeMarkup(schema: JsonSchema): (string | Markup)[] {
  // `typeText` puts NUL around names, so every other part is a name.
  const parts = typeText(schema).split('\0');
  return parts.map((part, i) => (i % 2 === 0 ? part : html`<a href="#schema-${part}">${part}</a>`));
}

/** A schema in TypeScript's notation, with NUL on both sides of the names of other schemas. */
function typeText(schema: JsonSchema, depth = 0): string {
  if (schema.$ref !== undefined) return `\0${schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)}\0`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices !== undefined) return choices.map((choice) => typeText(choice, depth)).join(' | ');
  if (schema.type === 'array') {
    const inner = typeText(schema.items as JsonSchema, depth);
    return /[ |]/.test(inner) && !inner.startsWith('{') ? `(${inner})[]` : `${inner}[]`;
  }
  if (schema.type === 'integer') return 'number';
  if (schema.type !== 'object') return String(schema.type ?? 'unknown');
  const { properties, required = [], additionalProperties } = schema;
  if (properties === undefined) return `Record<string, ${typeText((additionalProperties || {}) as JsonSchema, depth)}>`;
  const indent = '  '.repeat(depth + 1);
  const fields = Object.entries(properties as Record<string, JsonSchema>).map(([name, field]) => {
    const note = field.description === undefined ? '' : ` // ${field.description}`;
    return `${indent}${name}${required.includes(name) ? '' : '?'}: ${typeText(field, depth + 1)};${note}`;
  });
  return `{\n${fields.join('\n')}\n${'  '.repeat(depth)}}`;
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}
