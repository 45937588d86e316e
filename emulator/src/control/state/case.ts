import * as z from 'zod/mini';
import packageJson from '../../../package.json' with { type: 'json' };
import { checked } from '../../base/checked.js';
import { count } from '../../base/fields.js';
import { redact, redacted } from '../../base/redact.js';
import { faultInJson } from '../../faults/faults.js';
import { activeFault } from '../../faults/rule.js';
import { isSecretHeader } from '../../http/log/credentials.js';
import { requestRecord } from '../../http/log/request-record.js';
import type { EmulatorParts } from '../parts.js';
import { activeReply, replyFrom, replyInJson } from '../replies.js';
import { Mask } from './mask.js';
import { inContent } from './masked-texts.js';
import { currentState, restoreState } from './state.js';
import { checkedState, type EmulatorState, stateWithoutKeys } from './state-schema.js';

/** What can be hidden in a case. */
export type HiddenPart = (typeof HIDDEN_PARTS)[number];
const HIDDEN_PARTS = ['keys', 'prompts'] as const;

/** A snapshot without what gives keys away; who opens it keeps the keys that they have. */
type StateWithoutKeys = z.infer<typeof stateWithoutKeys>;

/** How to export a case. */
interface CaseOptions {
  /** The ids of the requests. */
  requests: readonly string[];
  masks: readonly HiddenPart[];
  withState: boolean;
  note: string | undefined;
}

const FORMAT = 'context-gateway-emulator/case';

/**
 * Exports what others need to see a failure: requests, faults, scripted replies and data. Rules and replies that are
 * functions or match by a function are left out.
 */
export function exportCase(parts: EmulatorParts, { requests, masks, withState, note = '' }: CaseOptions) {
  const { log, stores, chat } = parts;
  const mask = masks.includes('prompts') ? new Mask(parts) : undefined;
  const records = requests.flatMap((id) => log.find(id) ?? []);
  const faults = parts.faults.list().filter(({ match }) => !(match.path instanceof RegExp));
  const replies = chat.list().filter((one) => ![one.match, one.reply].some((it) => typeof it === 'function'));
  const rules = { faults: faults.map(faultInJson).map(withoutSecrets), replies: replies.map(replyInJson) };
  const current = currentState(parts);
  const state = mask?.state(current) ?? current;
  return {
    format: FORMAT,
    version: 1,
    emulator: packageJson.version,
    exportedAt: new Date().toISOString(),
    masked: [...masks],
    ...redacted({
      note,
      requests: mask ? records.map((record) => mask.request(record)) : records,
      ...(mask?.value(rules, z.object(rulesInCase)) ?? rules),
    }),
    ...(withState && { state: masks.includes('keys') ? withoutKeys(state, stores.sessions.first.userId) : state }),
  };
}

/** A rule that matches one key matches any key instead, so that the key is not in the file. */
function withoutSecrets({ match, ...rule }: z.infer<typeof activeFault>): z.infer<typeof activeFault> {
  const header = Object.entries(match.header ?? {}).map(([name, value]) => [name, isSecretHeader(name) ? '*' : value]);
  return { ...rule, match: { ...match, ...(match.header && { header: Object.fromEntries(header) }) } };
}

function withoutKeys(state: EmulatorState, firstUser: string): StateWithoutKeys {
  const { seed: _s, sequences: _q, apiKeys: _k, sessions: _t, idempotency: _i, files, ...rest } = state;
  const safe = files.map((file) => ({ ...file, content: inContent(file.content, redact) }));
  return redacted({ ...rest, files: safe, firstUser });
}

export const openedCase = z.object({ requests: count, faults: count, replies: count, state: z.boolean() });
/** What opening a case has added. */
export type OpenedCase = z.infer<typeof openedCase>;

/**
 * Opens a case: its data, faults and replies replace those that are there, and its requests join the log. If `rearm`, the
 * faults of its requests become rules for the next requests like them.
 */
export function openCase(parts: EmulatorParts, value: unknown, rearm: boolean): OpenedCase {
  const { apiKeys, sessions } = parts.stores;
  const { requests, faults, replies, state } = checked(caseForm, value);
  const whole = state === undefined ? undefined : wholeState(parts, state);
  if (whole !== undefined) restoreState(parts, whole);
  parts.faults.clear();
  for (const { match, remaining, respond } of faults) parts.faults.add({ match, times: remaining, respond });
  parts.chat.clear();
  // The reply added last is tried first.
  for (const { match, reply } of replies.map(replyFrom).reverse()) parts.chat.add(match, reply);
  for (const record of requests) {
    const isContext = record.path.startsWith('/api');
    parts.log.import(record, `Bearer ${isContext ? sessions.first.token : apiKeys.secret}`);
    if (!rearm || record.faultResponse === undefined) continue;
    const [path] = record.path.split('?');
    parts.faults.add({ match: { method: record.method, path }, respond: record.faultResponse });
  }
  return {
    requests: requests.length,
    faults: parts.faults.list().length,
    replies: replies.length,
    state: whole !== undefined,
  };
}

/** The state of a case, if need be with the keys, the sessions and the first user of this emulator. */
function wholeState(parts: EmulatorParts, given: unknown): EmulatorState {
  if (typeof given === 'object' && given !== null && 'seed' in given) return checkedState(given);
  checked(stateWithoutKeys, given);
  const { firstUser, ...state } = given as StateWithoutKeys; // just checked
  const { seed, sequences, apiKeys, sessions, idempotency } = currentState(parts);
  const { userId } = parts.stores.sessions.first;
  const mine = (id: string): string => (id === firstUser ? userId : id);
  return checkedState({
    ...state,
    ...{ seed, sequences, apiKeys, sessions, idempotency },
    conversations: state.conversations.map((one) => ({ ...one, ownerId: mine(one.ownerId) })),
    memory: state.memory.map((item) => ({ ...item, ownerId: mine(item.ownerId) })),
    workspaces: state.workspaces.map((one) => ({ ...one, members: one.members.map(mine) })),
  });
}

const rulesInCase = { faults: z.array(activeFault), replies: z.array(activeReply) };
/** A case. */
export const caseForm = z.object({
  format: z.literal(FORMAT),
  version: z.literal(1),
  emulator: z.optional(z.string()),
  exportedAt: z.optional(z.string()),
  note: z.optional(z.string()),
  masked: z.optional(z.array(z.enum(HIDDEN_PARTS))),
  requests: z.array(requestRecord),
  ...rulesInCase,
  state: z.optional(z.unknown()),
});
