import * as z from 'zod/mini';
import { exact, id, namedObject } from './fields.js';

/** A model the emulator offers. */
export interface EmulatorModel {
  id: string;
  /** The most tokens of prompt and completion together. */
  contextWindow: number;
}

export const modelSchema = exact<EmulatorModel>()(
  namedObject('Model', {
    id,
    contextWindow: z.int().check(z.gte(1)),
  }),
);

/** A19: five invented models, two of one family and three of another. */
export const MODELS: readonly EmulatorModel[] = Object.freeze([
  Object.freeze({ id: 'atlas-large', contextWindow: 200_000 }),
  Object.freeze({ id: 'atlas-small', contextWindow: 200_000 }),
  Object.freeze({ id: 'birch-large', contextWindow: 128_000 }),
  Object.freeze({ id: 'birch-medium', contextWindow: 128_000 }),
  Object.freeze({ id: 'birch-small', contextWindow: 128_000 }),
]);
