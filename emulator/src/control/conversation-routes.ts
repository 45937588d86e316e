import * as z from 'zod/mini';
import { checked, checkedList } from '../base/checked.js';
import { described, label, namedObject } from '../base/fields.js';
import { nextTurn } from '../base/real-timers.js';
import { type Sliced, Slices } from '../base/slices.js';
import { compactionResult } from '../context/responses.js';
import {
  COMPACTION_LEVELS,
  conversationInput,
  conversationRecord,
  messageInput,
  messageRecord,
} from '../store/conversation-records.js';
import type { Conversations } from '../store/conversations.js';
import { type FileRecord, fileRecord } from '../store/files.js';
import { type ControlRoutes, deletion, found, wholeNumber } from './control-routes.js';
import { inspectConversation, inspectedConversation } from './page/inspected-conversation.js';
import type { EmulatorParts } from './parts.js';

const messageList = z.array(messageInput);
const messagesBody = z.object({ messages: messageList });
const storedFile = namedObject('StoredFile', {
  ...fileRecord.shape,
  contentType: described('As the upload declared it.', z.string()),
  requestId: z.optional(described('The request that uploaded it, while the log has it.', label)),
});

/** Conversations and uploaded files. */
export function conversationRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  talkRoutes(routes, parts);
  fileRoutes(routes, parts);
}

function talkRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  const { contexts } = parts;
  const { conversations } = parts.stores;
  const slices = new Slices();
  routes.add('GET /conversations', {
    id: 'listConversations',
    summary: 'List conversations with their messages',
    responses: { 200: z.array(conversationRecord) },
    handle: () => conversations.list(),
  });
  routes.add('POST /conversations', {
    id: 'createConversation',
    summary: 'Create a conversation',
    body: conversationInput,
    responses: { 201: conversationRecord },
    handle: async ({ json }) => {
      const body = await json();
      return createdJson(await slices.run(creating(conversations, body)));
    },
  });
  routes.add('GET /conversations/:id', {
    id: 'getConversation',
    summary: 'Get a conversation with its messages',
    responses: { 200: conversationRecord },
    handle: ({ id }) => found(conversations.get(id), 'conversation'),
  });
  routes.add('DELETE /conversations/:id', {
    ...deletion('deleteConversation', 'conversation', ({ id }) => conversations.delete(id)),
    summary: 'Delete a conversation with its messages and summaries',
  });
  routes.add('GET /conversations/:id/context', {
    id: 'inspectConversation',
    summary: 'Get the context of a conversation, the status of each message, and all versions of the summary',
    responses: { 200: inspectedConversation },
    handle: async ({ id }) => found(await inspectConversation(parts, id), 'conversation'),
  });
  routes.add('POST /conversations/:id/compact', {
    id: 'compactConversation',
    summary: 'Compact a conversation, as the Context API does',
    body: z.object({ level: z.optional(z.enum(COMPACTION_LEVELS)) }),
    responses: { 200: compactionResult },
    handle: async ({ id, body }) => {
      const { level } = await body();
      found(conversations.state(id), 'conversation');
      return (await contexts.compact(id, level ?? 'light')).result;
    },
  });
  routes.add('POST /conversations/:id/messages', {
    id: 'appendMessages',
    summary: 'Append messages to a conversation',
    body: z.union([messageList, messagesBody]),
    responses: { 201: z.array(messageRecord) },
    handle: async ({ id, json }) => {
      found(conversations.state(id), 'conversation');
      const body = await json();
      return createdJson(await slices.run(appending(conversations, id, body)));
    },
  });
}

function fileRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  const { files } = parts.stores;
  routes.add('GET /files', {
    id: 'listFiles',
    summary: 'List uploaded files',
    responses: { 200: z.array(storedFile) },
    handle: () => files.list().map((record) => asStored(parts, record)),
  });
  routes.add('GET /files/:id', {
    id: 'getFile',
    summary: 'Get the metadata of a file',
    responses: { 200: storedFile },
    handle: ({ id }) => asStored(parts, found(files.get(id), 'file')),
  });
  routes.add(
    'DELETE /files/:id',
    deletion('deleteFile', 'file', ({ id }) => files.delete(id)),
  );
  routes.add('GET /files/:id/content', {
    id: 'getFileContent',
    summary: 'Get the bytes of a file',
    query: z.object({
      bytes: z.optional(described('Only the first bytes.', wholeNumber)),
    }),
    responses: { 200: { 'application/octet-stream': z.string() } },
    handle: ({ id, query }) => {
      const { bytes } = query();
      const content = found(files.content(id), 'file');
      // Never with the type that the upload declared: an HTML file would run on the origin of the control plane.
      const headers = { 'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff' };
      const wanted = content.subarray(0, bytes === undefined ? undefined : Number(bytes));
      return new Response(wanted as Uint8Array<ArrayBuffer>, { headers });
    },
  });
}

/** A file with the request that uploaded it, while the log has it. */
function asStored({ stores: { files }, log }: EmulatorParts, { id, ...record }: FileRecord) {
  const requestId = files.requestId(id);
  const isLogged = requestId !== undefined && log.entry(requestId) !== undefined;
  return { id, ...record, contentType: files.contentType(id) ?? '', ...(isLogged && { requestId }) };
}

/** Creates a conversation in slices, because it may have 100,000 messages. Returns its JSON in pieces. */
function* creating(conversations: Conversations, body: unknown): Sliced<string[]> {
  const given = messagesIn(body);
  const { messages: _, ...rest } = Object(body);
  const input = checked(conversationInput, given === undefined ? body : rest, true);
  const messages = given && (yield* checkedList(messageInput, given, () => checked(conversationInput, body, true)));
  const { messages: created, ...head } = yield* conversations.creating({ ...input, messages });
  return [`${JSON.stringify(head).slice(0, -1)},"messages":`, ...(yield* listInJson(created)), '}'];
}

function* appending(conversations: Conversations, id: string, body: unknown): Sliced<string[]> {
  const given = Array.isArray(body) ? body : messagesIn(body);
  if (given === undefined) checked(messagesBody, body, true);
  else if (given !== body) checked(z.object({ messages: z.unknown() }), body, true);
  const list = given ?? [];
  const messages = yield* checkedList(messageInput, list, () => checked(messageList, list, true));
  return yield* listInJson(yield* conversations.appending(id, messages));
}

function messagesIn(body: unknown): unknown[] | undefined {
  const { messages } = Object(body);
  return Array.isArray(messages) ? messages : undefined;
}

function* listInJson(records: readonly object[]): Sliced<string[]> {
  const pieces = ['['];
  for (const [at, record] of records.entries()) {
    pieces.push(at === 0 ? '' : ',', JSON.stringify(record));
    yield;
  }
  return [...pieces, ']'];
}

/** A response that is written piece by piece: one text of 20 MB would take too long at once. */
function createdJson(pieces: readonly string[]): Response {
  const encoder = new TextEncoder();
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      await nextTurn();
      controller.enqueue(encoder.encode(pieces.slice(at, at + AT_ONCE).join('')));
      at += AT_ONCE;
      if (at >= pieces.length) controller.close();
    },
  });
  return new Response(body, { status: 201, headers: { 'content-type': 'application/json' } });
}

const AT_ONCE = 1000;
