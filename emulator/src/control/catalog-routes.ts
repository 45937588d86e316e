import * as z from 'zod/mini';
import { modelSchema } from '../base/models.js';
import { executionRecord, integrationInput, integrationRecord } from '../store/integrations.js';
import { presetInput, presetRecord } from '../store/presets.js';
import { type ControlRoutes, deletion, idResponse } from './control-routes.js';
import type { EmulatorParts } from './parts.js';
import { activeReply, replyFrom, replyInJson, replySchema } from './replies.js';

/** The contents of the Gateway: models, presets, integrations and scripted replies. */
export function catalogRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  modelRoutes(routes, parts);
  integrationRoutes(routes, parts);
  replyRoutes(routes, parts);
}

function modelRoutes(routes: ControlRoutes, { stores: { models, presets } }: EmulatorParts): void {
  routes.add('GET /models', {
    id: 'listModels',
    summary: 'List models',
    responses: { 200: z.array(modelSchema) },
    handle: () => models.list(),
  });
  routes.add('POST /models', {
    id: 'createModel',
    summary: 'Create a model',
    body: modelSchema,
    responses: { 201: modelSchema },
    handle: async ({ body }) => models.create(await body()),
  });
  routes.add(
    'DELETE /models/:id',
    deletion('deleteModel', 'custom model', ({ id }) => models.delete(id)),
  );
  routes.add('GET /presets', {
    id: 'listAllPresets',
    summary: 'List presets with their templates',
    responses: { 200: z.array(presetRecord) },
    handle: () => presets.list(),
  });
  routes.add('POST /presets', {
    id: 'createPreset',
    summary: 'Create a preset',
    body: presetInput,
    responses: { 201: presetRecord },
    handle: async ({ body }) => presets.create(await body()),
  });
  routes.add(
    'DELETE /presets/:id',
    deletion('deletePreset', 'preset', ({ id }) => presets.delete(id)),
  );
}

function integrationRoutes(routes: ControlRoutes, { stores: { integrations } }: EmulatorParts): void {
  routes.add('GET /integrations', {
    id: 'listAllIntegrations',
    summary: 'List integrations with their actions',
    responses: { 200: z.array(integrationRecord) },
    handle: () => integrations.list(),
  });
  routes.add('POST /integrations', {
    id: 'createIntegration',
    summary: 'Create an integration',
    body: integrationInput,
    responses: { 201: integrationRecord },
    handle: async ({ body }) => integrations.create(await body()),
  });
  routes.add('GET /integrations/executions', {
    id: 'listExecutions',
    summary: 'List executed actions of integrations, oldest first',
    responses: { 200: z.array(executionRecord) },
    handle: () => integrations.executions(),
  });
  routes.add(
    'DELETE /integrations/:id',
    deletion('deleteIntegration', 'custom integration', ({ id }) => integrations.delete(id)),
  );
}

function replyRoutes(routes: ControlRoutes, { chat, changes }: EmulatorParts): void {
  routes.add('GET /replies', {
    id: 'listReplies',
    summary: 'List scripted replies, in the order in which they are tried',
    responses: { 200: z.array(activeReply) },
    handle: () => chat.list().map(replyInJson),
  });
  routes.add('POST /replies', {
    id: 'addReply',
    summary: 'Add a scripted reply; the newest is tried first',
    body: replySchema,
    responses: { 201: idResponse },
    handle: async ({ body }) => {
      const { match, reply } = replyFrom(await body());
      changes.notify('replies');
      return { id: chat.add(match, reply) };
    },
  });
  routes.add('DELETE /replies', {
    id: 'clearReplies',
    summary: 'Delete all scripted replies',
    handle: () => {
      changes.notify('replies');
      chat.clear();
    },
  });
  routes.add(
    'DELETE /replies/:id',
    deletion('removeReply', 'scripted reply', ({ id }) => {
      changes.notify('replies');
      return chat.remove(id);
    }),
  );
}
