import * as z from 'zod/mini';
import { integrationRecord, presetRecord } from '../api/schemas.js';
import {
  activeReply,
  integrationSchema,
  modelSchema,
  presetSchema,
  replyFrom,
  replyInJson,
  replySchema,
} from './bodies.js';
import { type ControlMethods, type ControlRoutes, checkedBody, deletion, idOf } from './control-routes.js';
import type { EmulatorParts } from './parts.js';
import { executionList, idResponse, integrationList, presetList } from './responses.js';

/** The contents of the Gateway: models, presets, integrations and scripted replies. */
export function catalogRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  routes.route('/models', modelListMethods(parts));
  routes.route('/models/:id', modelMethods(parts));
  routes.route('/presets', presetListMethods(parts));
  routes.route('/presets/:id', presetMethods(parts));
  routes.route('/integrations', integrationListMethods(parts));
  routes.route('/integrations/executions', executionMethods(parts));
  routes.route('/integrations/:id', integrationMethods(parts));
  routes.route('/replies', replyListMethods(parts));
  routes.route('/replies/:id', replyMethods(parts));
}

/** `/models` */
function modelListMethods({ stores: { models } }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listModels',
      summary: 'List models',
      responses: { 200: z.array(modelSchema) },
      handle: () => models.list(),
    },
    POST: {
      id: 'createModel',
      summary: 'Create a model',
      body: modelSchema,
      responses: { 201: modelSchema },
      handle: async (c) => models.create(await checkedBody(c, modelSchema)),
    },
  };
}

/** `/models/:id` */
function modelMethods({ stores: { models } }: EmulatorParts): ControlMethods {
  return { DELETE: deletion('deleteModel', 'custom model', (c) => models.delete(idOf(c))) };
}

/** `/presets` */
function presetListMethods({ stores: { presets } }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listAllPresets',
      summary: 'List presets with their templates',
      responses: { 200: presetList },
      handle: () => presets.list(),
    },
    POST: {
      id: 'createPreset',
      summary: 'Create a preset',
      body: presetSchema,
      responses: { 201: presetRecord },
      handle: async (c) => presets.create(await checkedBody(c, presetSchema)),
    },
  };
}

/** `/presets/:id` */
function presetMethods({ stores: { presets } }: EmulatorParts): ControlMethods {
  return { DELETE: deletion('deletePreset', 'preset', (c) => presets.delete(idOf(c))) };
}

/** `/integrations` */
function integrationListMethods({ stores: { integrations } }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listAllIntegrations',
      summary: 'List integrations with their actions',
      responses: { 200: integrationList },
      handle: () => integrations.list(),
    },
    POST: {
      id: 'createIntegration',
      summary: 'Create an integration',
      body: integrationSchema,
      responses: { 201: integrationRecord },
      handle: async (c) => integrations.create(await checkedBody(c, integrationSchema)),
    },
  };
}

/** `/integrations/executions` */
function executionMethods({ stores: { integrations } }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listExecutions',
      summary: 'List executed actions of integrations, oldest first',
      responses: { 200: executionList },
      handle: () => integrations.executions(),
    },
  };
}

/** `/integrations/:id` */
function integrationMethods({ stores: { integrations } }: EmulatorParts): ControlMethods {
  return {
    DELETE: deletion('deleteIntegration', 'custom integration', (c) => integrations.delete(idOf(c))),
  };
}

/** `/replies` */
function replyListMethods({ chat }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listReplies',
      summary: 'List scripted replies, in the order in which they are tried',
      responses: { 200: z.array(activeReply) },
      handle: () => chat.list().map(replyInJson),
    },
    POST: {
      id: 'addReply',
      summary: 'Add a scripted reply; the newest is tried first',
      body: replySchema,
      responses: { 201: idResponse },
      handle: async (c) => {
        const { match, reply } = replyFrom(await checkedBody(c, replySchema));
        return { id: chat.add(match, reply) };
      },
    },
    DELETE: {
      id: 'clearReplies',
      summary: 'Delete all scripted replies',
      handle: () => {
        chat.clear();
      },
    },
  };
}

/** `/replies/:id` */
function replyMethods({ chat }: EmulatorParts): ControlMethods {
  return { DELETE: deletion('removeReply', 'scripted reply', (c) => chat.remove(idOf(c))) };
}
