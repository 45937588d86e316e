import * as z from 'zod/mini';

/** The state of a conversation, as a store returns it. */
export const stateSchema = /* @__PURE__ */ (() => {
  const number = z.number(); // finite
  const count = z.int().check(z.minimum(0));
  // As the token counter limits them: with another, prompts would exceed the window, or no prompt would fit.
  const factor = z.optional(z.number().check(z.minimum(0.5), z.maximum(4)));
  const text = z.string();
  const part = <Shape extends z.core.$ZodShape>(shape: Shape) => z.optional(z.looseObject(shape));
  return z.looseObject({
    format: z.literal(1),
    revision: number,
    lost: z.array(z.looseObject({ section: text, text, until: number })),
    // What the service sends is used without a check of its fields.
    snapshot: part({
      summary: z.looseObject({ version: number }),
      pins: z.array(z.looseObject({})),
      metadata: z.looseObject({ compressedTokens: number, recentMessageCount: number }),
      messages: count,
      readAt: number,
    }),
    compaction: z.looseObject({
      last: part({ level: z.enum(['light', 'deep', 'aggressive']), tokens: number, savedNothing: z.boolean() }),
      suspended: part({ until: number, wait: number }),
    }),
    calibration: z.looseObject({ latin: factor, eastAsian: factor, other: factor }),
    layout: part({ start: count, first: z.optional(text) }),
    excluded: z.array(text),
  });
})();
