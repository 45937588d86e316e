import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { HttpError } from '../base/errors.js';
import { parseJsonText } from '../base/json.js';
import { modelSchema } from '../base/models.js';
import { replyFrom, replySchema } from '../control/replies.js';
import type { Emulator, EmulatorSetup } from '../emulator.js';
import { conversationInput } from '../store/conversation-records.js';
import { integrationInput } from '../store/integrations.js';
import { memoryInput } from '../store/memory.js';
import { presetInput } from '../store/presets.js';
import { workspaceInput } from '../store/workspaces.js';

/** Reads initial data from a JSON file. Pass the result as the `setup` option, so that a reset restores the data. */
export function seedFrom(file: string): EmulatorSetup {
  const seed = readSeed(file);
  const addReplies = (emulator: Emulator): void => {
    for (const { match, reply } of seed.replies.map(replyFrom)) emulator.chat.on(match, reply);
  };
  const addAll = (emulator: Emulator): void => {
    for (const workspace of seed.workspaces) emulator.workspaces.create(workspace);
    for (const conversation of seed.conversations) emulator.conversations.create(conversation);
    for (const item of seed.memory) emulator.memory.create(item);
    for (const model of seed.models) emulator.models.create(model);
    for (const preset of seed.presets) emulator.presets.create(preset);
    for (const integration of seed.integrations) emulator.integrations.create(integration);
    addReplies(emulator);
  };
  // Replies are not stored, so they are added again on every start.
  return Object.assign(addAll, { resume: addReplies });
}

function readSeed(file: string): z.infer<typeof seedSchema> {
  try {
    return checked(seedSchema, parseJsonText(readFileSync(file, 'utf8')), true);
  } catch (error) {
    const isReadable = error instanceof HttpError || error instanceof SyntaxError;
    const reason = isReadable ? error.message : 'cannot read the file';
    throw new RangeError(`${file}: ${reason}`, { cause: error });
  }
}

const listOf = <Schema extends z.ZodMiniType>(schema: Schema) => z._default(z.array(schema), []);
const seedSchema = z.object({
  workspaces: listOf(workspaceInput),
  conversations: listOf(conversationInput),
  memory: listOf(memoryInput),
  models: listOf(modelSchema),
  presets: listOf(presetInput),
  integrations: listOf(integrationInput),
  replies: listOf(replySchema),
});
