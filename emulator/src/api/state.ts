import type { Clock } from '../base/clock.js';
import type { Completions } from '../completions/completions.js';
import type { Pace } from '../completions/stream.js';
import type { ConversationContexts } from '../context/conversation-context.js';
import type { Stores } from '../store/stores.js';
import type { ListForm } from './lists.js';

/** The settings of the Gateway API. */
interface GatewaySettings {
  clock: Clock;
  maxFileSize: number;
  publishableEndpoints: readonly string[];
  pace: Pace;
  strict: boolean;
  listForm: ListForm;
  presetsLimit: { default: number; max: number };
}

/** The dependencies of the Gateway API. */
export interface GatewayApiState {
  settings: GatewaySettings;
  stores: Stores;
  completions: Completions;
}

/** The dependencies of the Context API. */
export interface ContextApiState {
  stores: Stores;
  contexts: ConversationContexts;
  strict: boolean;
}
