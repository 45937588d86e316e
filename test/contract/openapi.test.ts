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

// Both are written from the service's documentation, and neither from the other.
test.each([
  { name: 'RollingSummary', schema: schemas.rollingSummarySchema },
  { name: 'PinnedMemoryItem', schema: schemas.pinnedMemoryItemSchema },
  { name: 'ContextMetadata', schema: schemas.contextMetadataSchema },
  { name: 'ConversationContext', schema: schemas.conversationContextSchema },
  { name: 'CompactionResult', schema: schemas.compactionResultSchema },
  { name: 'UserMemoryItem', schema: schemas.userMemoryItemSchema },
  { name: 'ChatMessage', schema: schemas.chatMessageSchema },
  { name: 'ChatCompletion', schema: schemas.chatCompletionSchema },
  { name: 'ChatCompletionChunk', schema: schemas.chatCompletionChunkSchema },
  { name: 'CompletionUsage', schema: schemas.completionUsageSchema },
  { name: 'UsageReport', schema: schemas.usageReportSchema },
])('the OpenAPI description and the SDK have the same fields of $name', ({ name, schema }) => {
  const checked = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as unknown as ObjectSchema;
  const described = components.schemas[name];

  expect(Object.keys(described?.properties ?? {}).sort()).toEqual(Object.keys(checked.properties).sort());
  // Every field that the SDK requires is required in the description as well.
  expect(described?.required).toEqual(expect.arrayContaining(checked.required));
});
