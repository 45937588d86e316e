import * as z from 'zod/mini';
import { compactionResult, fileRecord } from '../api/schemas.js';
import { checked } from '../base/checked.js';
import { HttpError } from '../base/errors.js';
import { compactBody, conversationSchema, messageListSchema, messagesSchema } from './bodies.js';
import { bodyOf, type ControlledEmulator, type ControlRoutes, checkedBody, found, idOf } from './control-routes.js';
import { conversationRecord, inspectedConversation, messageRecord, ok } from './responses.js';

/** Conversations and uploaded files. */
export function conversationRoutes(routes: ControlRoutes, emulator: ControlledEmulator): void {
  const { conversations, files } = emulator;

  routes.route('/conversations', {
    GET: {
      id: 'listConversations',
      summary: 'List conversations with their messages',
      responses: { 200: z.array(conversationRecord) },
      handle: (c) => c.json(conversations.list()),
    },
    POST: {
      id: 'createConversation',
      summary: 'Create a conversation',
      body: conversationSchema,
      responses: { 201: conversationRecord },
      handle: async (c) => c.json(conversations.create(await checkedBody(c, conversationSchema)), 201),
    },
  });
  routes.route('/conversations/:id', {
    GET: {
      id: 'getConversation',
      summary: 'Get a conversation with its messages',
      responses: { 200: conversationRecord },
      handle: (c) => c.json(found(conversations.get(idOf(c)), 'conversation')),
    },
    DELETE: {
      id: 'deleteConversation',
      summary: 'Delete a conversation with its messages and summaries',
      responses: { 200: ok },
      handle: (c) => {
        if (!conversations.delete(idOf(c))) throw new HttpError(404, 'there is no such conversation');
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/conversations/:id/context', {
    GET: {
      id: 'inspectConversation',
      summary: 'Get the context of a conversation, the status of each message, and all versions of the summary',
      responses: { 200: inspectedConversation },
      handle: async (c) => c.json(found(await emulator.inspect(idOf(c)), 'conversation')),
    },
  });
  routes.route('/conversations/:id/compact', {
    POST: {
      id: 'compactConversation',
      summary: 'Compact a conversation, as the Context API does',
      body: compactBody,
      responses: { 200: compactionResult },
      handle: async (c) => {
        const { level } = await checkedBody(c, compactBody);
        return c.json(found(await emulator.compact(idOf(c), level ?? 'light'), 'conversation'));
      },
    },
  });
  routes.route('/conversations/:id/messages', {
    POST: {
      id: 'appendMessages',
      summary: 'Append messages to a conversation',
      body: z.union([messageListSchema, messagesSchema]),
      responses: { 201: z.array(messageRecord) },
      handle: async (c) => {
        const { id } = found(conversations.get(idOf(c)), 'conversation');
        const value = await bodyOf(c);
        const messages = Array.isArray(value) ? value : checked(messagesSchema, value, true).messages;
        return c.json(conversations.append(id, checked(messageListSchema, messages, true)), 201);
      },
    },
  });

  routes.route('/files', {
    GET: {
      id: 'listFiles',
      summary: 'List uploaded files',
      responses: { 200: z.array(fileRecord) },
      handle: (c) => c.json(files.list()),
    },
  });
  routes.route('/files/:id', {
    GET: {
      id: 'getFile',
      summary: 'Get the metadata of a file',
      responses: { 200: fileRecord },
      handle: (c) => c.json(found(files.get(idOf(c)), 'file')),
    },
  });
  routes.route('/files/:id/content', {
    GET: {
      id: 'getFileContent',
      summary: 'Get the bytes of a file',
      responses: { 200: { 'application/octet-stream': z.string() } },
      handle: (c) => {
        const content = found(files.content(idOf(c)), 'file');
        // Never with the type that the upload declared: an HTML file would run on the origin of the control plane.
        const headers = { 'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff' };
        return new Response(content as Uint8Array<ArrayBuffer>, { headers });
      },
    },
  });
}
