import * as z from 'zod/mini';
import { MESSAGE_ROLES } from '../store/conversation-records.js';

/** An id as the control plane takes it. */
export const idSchema = z.string().check(z.minLength(1));

/** Messages as JSON gives them. */
export const messageListSchema = z.array(
  z.object({
    id: z.optional(idSchema),
    role: z.enum(MESSAGE_ROLES),
    content: z.string(),
    createdAt: z.optional(z.string()),
  }),
);
/** Messages in an object. */
export const messagesSchema = z.object({ messages: messageListSchema });

/** A conversation as JSON gives it. */
export const conversationSchema = z.object({
  id: z.optional(idSchema),
  workspaceId: z.optional(idSchema),
  ownerId: z.optional(idSchema),
  stylePreferences: z.optional(z.record(z.string(), z.unknown())),
  messages: z.optional(messageListSchema),
});

/** A workspace as JSON gives it. */
export const workspaceSchema = z.object({
  id: z.optional(idSchema),
  name: z.optional(z.string()),
  members: z.optional(z.array(idSchema)),
});
