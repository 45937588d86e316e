import * as z from 'zod/mini';
import { exact, requiredText } from '../validation/fields.js';
import type { CompactionLevel, MemoryType, PinCategory } from './schemas.js';

/** Arguments of `compact`. */
export type CompactParams = {
  /** If absent, the service chooses. */
  level?: CompactionLevel | undefined;
};

/** Arguments of `pin`. */
export type PinParams = {
  /** If absent, the service chooses and returns its choice. */
  category?: PinCategory | undefined;
};

/** Arguments of `memory.list`. */
export type MemoryListParams = {
  /** Items of this workspace. Without it, your own. */
  workspaceId?: string | undefined;
  /** Items of this type only. */
  type?: MemoryType | undefined;
};

/** Arguments of `memory.create`. */
export interface MemoryCreateParams {
  type: MemoryType;
  key: string;
  content: string;
  /** Shares the item with a workspace. Without it, the item is yours alone. */
  workspaceId?: string | undefined;
}

/** Arguments of `memory.update`. */
export interface MemoryUpdateParams {
  content: string;
  /** `false` deactivates the item without deleting it. */
  isActive?: boolean | undefined;
}

const memoryType = z.literal(['preference', 'fact', 'constraint', 'definition']);

// Requests are strict: a misspelt field is an error, not a field that is silently ignored.
export const compactParamsSchema = exact<CompactParams>()(
  z.strictObject({ level: z.optional(z.literal(['light', 'deep', 'aggressive'])) }),
);
export const pinParamsSchema = exact<PinParams>()(
  z.strictObject({ category: z.optional(z.literal(['decision', 'requirement', 'reference', 'other'])) }),
);
export const memoryListQuerySchema = exact<MemoryListParams>()(
  z.strictObject({ workspaceId: z.optional(requiredText), type: z.optional(memoryType) }),
);
export const memoryCreateBodySchema = exact<MemoryCreateParams>()(
  z.strictObject({
    type: memoryType,
    key: requiredText,
    content: z.string(),
    workspaceId: z.optional(requiredText),
  }),
);
export const memoryUpdateBodySchema = exact<MemoryUpdateParams>()(
  z.strictObject({ content: z.string(), isActive: z.optional(z.boolean()) }),
);
