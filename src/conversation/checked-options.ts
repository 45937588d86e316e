import { ConfigurationError } from '../index.js';
import { checkMessages } from './messages.js';
import type { CompactionOptions, CompactionTrigger, ConversationOptions } from './options.js';
import { SECTIONS } from './sections.js';

/** The service's models have windows of 128K and 200K tokens. Which model has which is not documented. */
const SMALLEST_WINDOW = 128_000;

/** The token budget of a prompt and its reply. */
export interface Window {
  contextWindow: number;
  reserveOutput: number;
}

/** Accepted values of each option: names of types as `typeof` returns them, or literal values. */
type Checks<T> = { readonly [Name in keyof Required<T>]: readonly unknown[] };

const OPTIONS: Checks<ConversationOptions> = {
  context: ['object'],
  gateway: ['object'],
  conversationId: ['string'],
  model: ['string'],
  instructions: ['string'],
  workspaceId: ['string'],
  history: ['object', 'function'],
  contextWindow: ['number'],
  reserveOutput: ['number'],
  contextShare: ['number'],
  countTokens: ['function'],
  sections: ['object'],
  placement: ['user', 'system'],
  mergeUserTurns: ['boolean'],
  render: ['function'],
  compaction: ['object', false],
  ledger: ['object', false],
  maxAge: ['number'],
  onContextError: ['throw', 'skip'],
  onCompaction: ['function'],
  onError: ['function'],
};

const COMPACTION: Checks<CompactionOptions> = {
  when: ['object'],
  level: ['light', 'deep', 'aggressive', 'function'],
  mode: ['background', 'before'],
  timeout: ['number'],
  minGrowth: ['number'],
  cooldown: ['number'],
  onBefore: ['function'],
};

const TRIGGER: Checks<CompactionTrigger> = { tokens: ['number'], messages: ['number'], fraction: ['number'] };

/** Rejects invalid options before any work starts. */
export function checkOptions(options: ConversationOptions): Window {
  check(options, OPTIONS);
  const { context, gateway, conversationId, model, contextWindow = SMALLEST_WINDOW } = options;
  const { reserveOutput = Math.min(4096, Math.floor(contextWindow / 8)), contextShare = 0.5, sections = [] } = options;
  const { history, compaction, ledger } = options;
  refuse(context?.memory === undefined, 'context must be a ContextClient.');
  refuse(gateway?.chat === undefined, 'gateway must be a GatewayClient.');
  refuse(!conversationId || !model, 'conversationId and model must not be empty.');
  refuse(
    !(Number.isInteger(contextWindow) && Number.isInteger(reserveOutput) && contextWindow > reserveOutput),
    'contextWindow and reserveOutput must be whole numbers of tokens, the former the larger one.',
  );
  refuse(contextShare > 1, 'contextShare must be from 0 to 1.');
  refuse(!sections.every((section) => SECTIONS.includes(section)), `sections must be some of ${SECTIONS.join(', ')}.`);
  refuse(ledger && !('load' in ledger && 'save' in ledger), 'ledger must have load and save.');
  if (typeof history === 'object') checkMessages(history, 'history');
  if (compaction) checkCompaction(compaction, options.contextWindow);
  return { contextWindow, reserveOutput };
}

function checkCompaction(compaction: CompactionOptions, contextWindow: number | undefined): void {
  check(compaction, COMPACTION, 'compaction.');
  for (const trigger of [compaction.when ?? []].flat()) {
    check(trigger, TRIGGER, 'compaction.when.');
    const { fraction = 0 } = trigger;
    refuse(fraction > 1, 'compaction.when.fraction must be from 0 to 1.');
    refuse(fraction > 0 && contextWindow === undefined, 'A trigger with fraction needs contextWindow.');
  }
}

function check(given: object, checks: Readonly<Record<string, readonly unknown[]>>, path = ''): void {
  refuse(Object(given) !== given, `${path || 'createConversation'} takes an object of options.`);
  for (const [name, value] of Object.entries(given)) {
    const accepted = checks[name];
    refuse(accepted === undefined, `There is no option ${path}${name}.`);
    const fits =
      accepted?.includes(value) || (accepted?.includes(typeof value) && value !== null && !(Number(value) < 0));
    refuse(value !== undefined && !fits, `${path}${name} must be ${accepted?.join(' or ')}.`);
  }
}

function refuse(condition: unknown, message: string): void {
  if (condition) throw new ConfigurationError(message);
}
