import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { COMPACTION_LEVELS } from '../context/compaction/compact.js';
import { bodyOf, type ControlledEmulator, found, type Plane } from './plane.js';
import { conversationSchema, messageListSchema, messagesSchema } from './schemas.js';

/** Conversations, and what is stored beside them: files, memory, what integrations did. */
export function conversationRoutes(app: Plane, emulator: ControlledEmulator): void {
  const { conversations, files, integrations } = emulator;

  app.get('/conversations', (c) => c.json(conversations.list()));
  app.post('/conversations', async (c) =>
    c.json(conversations.create(checked(conversationSchema, await bodyOf(c))), 201),
  );
  app.get('/conversations/:id', (c) => c.json(found(conversations.get(c.req.param('id')), 'conversation')));
  app.get('/conversations/:id/context', async (c) =>
    c.json(found(await emulator.inspect(c.req.param('id')), 'conversation')),
  );
  app.post('/conversations/:id/compact', async (c) => {
    const { level } = checked(compactSchema, await bodyOf(c));
    return c.json(found(await emulator.compact(c.req.param('id'), level ?? 'light'), 'conversation'));
  });
  app.post('/conversations/:id/messages', async (c) => {
    const { id } = found(conversations.get(c.req.param('id')), 'conversation');
    const value = await bodyOf(c);
    const messages = Array.isArray(value) ? value : checked(messagesSchema, value).messages;
    return c.json(conversations.append(id, checked(messageListSchema, messages)), 201);
  });

  app.get('/files', (c) => c.json(files.list()));
  app.get('/files/:id', (c) => c.json(found(files.get(c.req.param('id')), 'file')));
  app.get('/files/:id/content', (c) => {
    const content = found(files.content(c.req.param('id')), 'file');
    // Never as the type the upload claimed: this is the origin of the control plane.
    const headers = { 'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff' };
    return new Response(content as Uint8Array<ArrayBuffer>, { headers });
  });
  app.get('/integrations/executions', (c) => c.json(integrations.executions()));
}

const compactSchema = z.object({ level: z.optional(z.enum(COMPACTION_LEVELS)) });
