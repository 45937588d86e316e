import { ConfigurationError } from '../index.js';
import type { ConversationOptions } from './options.js';

/** The service's models have windows of 128K and 200K; which model has which is not documented. */
const SMALLEST_WINDOW = 128_000;

/** The budget of a prompt, and of its reply. */
export interface Window {
  contextWindow: number;
  reserveOutput: number;
}

/** Refuses what cannot work before anything is done. */
export function checkOptions(options: ConversationOptions): Window {
  const { context, gateway, conversationId, model, contextWindow = SMALLEST_WINDOW, compaction } = options;
  const { reserveOutput = Math.min(4096, Math.floor(contextWindow / 8)), contextShare = 0.5 } = options;
  if (typeof context?.retrieve !== 'function') throw new ConfigurationError('context must be a ContextClient.');
  if (gateway?.chat === undefined) throw new ConfigurationError('gateway must be a GatewayClient.');
  for (const [name, value] of Object.entries({ conversationId, model })) {
    if (typeof value !== 'string' || value === '')
      throw new ConfigurationError(`${name} must be a string that is not empty.`);
  }
  if (
    !(
      Number.isInteger(contextWindow) &&
      Number.isInteger(reserveOutput) &&
      reserveOutput >= 0 &&
      contextWindow > reserveOutput
    )
  ) {
    throw new ConfigurationError(
      'contextWindow and reserveOutput must be whole numbers of tokens, the former the larger one.',
    );
  }
  if (!(contextShare >= 0 && contextShare <= 1)) throw new ConfigurationError('contextShare must be from 0 to 1.');
  const triggers = compaction === false ? [] : [compaction?.when ?? []].flat();
  if (options.contextWindow === undefined && triggers.some(({ fraction }) => fraction !== undefined)) {
    throw new ConfigurationError(
      'compaction.when with fraction needs contextWindow: the window of your model, in tokens.',
    );
  }
  return { contextWindow, reserveOutput };
}
