import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { Refusal } from '../base/errors.js';
import { conversationSchema, workspaceSchema } from '../control/schemas.js';
import type { Emulator } from '../emulator.js';
import { MEMORY_TYPES } from '../store/memory.js';

/** First data read from a JSON file: a function for the `setup` option, so that a reset brings it back. */
export function seedFrom(file: string): (emulator: Emulator) => void {
  const seed = readSeed(file);
  return (emulator) => {
    for (const workspace of seed.workspaces) emulator.workspaces.create(workspace);
    for (const conversation of seed.conversations) emulator.conversations.create(conversation);
    for (const item of seed.memory) emulator.memory.create(item);
    for (const preset of seed.presets) emulator.presets.create(preset);
    // The newest reply is asked first; in a file the first one is meant.
    for (const { match, reply } of [...seed.replies].reverse()) emulator.chat.on(match, reply);
  };
}

function readSeed(file: string): z.infer<typeof seedSchema> {
  try {
    return checked(seedSchema, JSON.parse(readFileSync(file, 'utf8')), true);
  } catch (error) {
    const unread = error instanceof SyntaxError ? 'it is not JSON' : 'it cannot be read';
    const reason = error instanceof Refusal ? error.message : unread;
    throw new RangeError(`${file}: ${reason}`, { cause: error });
  }
}

const text = z.string().check(z.minLength(1));
const seedSchema = z.object({
  workspaces: z._default(z.array(workspaceSchema), []),
  conversations: z._default(z.array(conversationSchema), []),
  memory: z._default(
    z.array(
      z.object({
        type: z.enum(MEMORY_TYPES),
        key: text,
        content: text,
        workspaceId: z.optional(text),
      }),
    ),
    [],
  ),
  presets: z._default(
    z.array(
      z.object({
        id: z.optional(text),
        name: text,
        template: text,
        category: z.optional(text),
        description: z.optional(z.string()),
      }),
    ),
    [],
  ),
  replies: z._default(z.array(z.object({ match: text, reply: z.string() })), []),
});
