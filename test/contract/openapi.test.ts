import * as schemas from 'context-gateway/schemas';
import { createEmulator } from 'context-gateway-emulator';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';

interface ObjectSchema {
  properties: Record<string, unknown>;
  required: string[];
}

const response = await createEmulator().fetch('http://127.0.0.1/_emulator/openapi.json');
const { components } = (await response.json()) as { components: { schemas: Record<string, ObjectSchema> } };

/** Parts of RollingSummary, which the description has no names for. */
const INNER = ['decisionSchema', 'referenceSchema'];
const named = Object.entries(schemas).filter(([name]) => !INNER.includes(name));

/** What the description calls otherwise, and the fields that the service does not document. */
const NAMES: Record<string, string> = { chatReplySchema: 'ChatMessage' };
const UNDOCUMENTED = ['tool_calls'];

// Both are written from the service's documentation, and neither from the other.
test.each(named)('the OpenAPI description has the same fields as %s', (name, schema) => {
  const checked = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as unknown as ObjectSchema;
  const described =
    components.schemas[NAMES[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replace('Schema', '')];
  const fields = Object.keys(checked.properties).filter((field) => !UNDOCUMENTED.includes(field));

  expect(Object.keys(described?.properties ?? {}).sort()).toEqual(fields.sort());
  // Every field that the SDK requires is required in the description as well.
  expect(described?.required).toEqual(expect.arrayContaining(checked.required));
});
