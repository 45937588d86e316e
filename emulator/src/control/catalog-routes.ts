import * as z from 'zod/mini';
import { integrationRecord, presetRecord } from '../api/schemas.js';
import { HttpError } from '../base/errors.js';
import {
  activeReply,
  integrationSchema,
  modelSchema,
  presetSchema,
  replyFrom,
  replyInJson,
  replySchema,
} from './bodies.js';
import { type ControlledEmulator, type ControlRoutes, checkedBody, idOf } from './control-routes.js';
import { executionList, idResponse, integrationList, ok, presetList } from './responses.js';

/** The contents of the Gateway: models, presets, integrations and scripted replies. */
export function catalogRoutes(
  routes: ControlRoutes,
  { models, presets, integrations, chat }: ControlledEmulator,
): void {
  routes.route('/models', {
    GET: {
      id: 'listModels',
      summary: 'List models',
      responses: { 200: z.array(modelSchema) },
      handle: (c) => c.json(models.list()),
    },
    POST: {
      id: 'createModel',
      summary: 'Create a model',
      body: modelSchema,
      responses: { 201: modelSchema },
      handle: async (c) => c.json(models.create(await checkedBody(c, modelSchema)), 201),
    },
  });
  routes.route('/models/:id', { DELETE: deleteEndpoint('deleteModel', 'custom model', (id) => models.delete(id)) });

  routes.route('/presets', {
    GET: {
      id: 'listAllPresets',
      summary: 'List presets with their templates',
      responses: { 200: presetList },
      handle: (c) => c.json(presets.list()),
    },
    POST: {
      id: 'createPreset',
      summary: 'Create a preset',
      body: presetSchema,
      responses: { 201: presetRecord },
      handle: async (c) => c.json(presets.create(await checkedBody(c, presetSchema)), 201),
    },
  });
  routes.route('/presets/:id', { DELETE: deleteEndpoint('deletePreset', 'preset', (id) => presets.delete(id)) });

  routes.route('/integrations', {
    GET: {
      id: 'listAllIntegrations',
      summary: 'List integrations with their actions',
      responses: { 200: integrationList },
      handle: (c) => c.json(integrations.list()),
    },
    POST: {
      id: 'createIntegration',
      summary: 'Create an integration',
      body: integrationSchema,
      responses: { 201: integrationRecord },
      handle: async (c) => c.json(integrations.create(await checkedBody(c, integrationSchema)), 201),
    },
  });
  routes.route('/integrations/executions', {
    GET: {
      id: 'listExecutions',
      summary: 'List executed actions of integrations, oldest first',
      responses: { 200: executionList },
      handle: (c) => c.json(integrations.executions()),
    },
  });
  routes.route('/integrations/:id', {
    DELETE: deleteEndpoint('deleteIntegration', 'custom integration', (id) => integrations.delete(id)),
  });

  routes.route('/replies', {
    GET: {
      id: 'listReplies',
      summary: 'List scripted replies, in the order in which they are tried',
      responses: { 200: z.array(activeReply) },
      handle: (c) => c.json(chat.list().map(replyInJson)),
    },
    POST: {
      id: 'addReply',
      summary: 'Add a scripted reply; the newest is tried first',
      body: replySchema,
      responses: { 201: idResponse },
      handle: async (c) => {
        const { match, reply } = replyFrom(await checkedBody(c, replySchema));
        return c.json({ id: chat.add(match, reply) }, 201);
      },
    },
    DELETE: {
      id: 'clearReplies',
      summary: 'Delete all scripted replies',
      responses: { 200: ok },
      handle: (c) => {
        chat.clear();
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/replies/:id', { DELETE: deleteEndpoint('removeReply', 'scripted reply', (id) => chat.remove(id)) });
}

/** An endpoint that deletes one record. */
function deleteEndpoint(
  id: string,
  what: string,
  remove: (id: string) => boolean,
): Parameters<ControlRoutes['route']>[1][string] {
  return {
    id,
    summary: `Delete a ${what}`,
    responses: { 200: ok },
    handle: (c) => {
      if (!remove(idOf(c))) throw new HttpError(404, `there is no such ${what}`);
      return c.json({ ok: true });
    },
  };
}
