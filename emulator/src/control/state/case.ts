import * as z from 'zod/mini';
import packageJson from '../../../package.json' with { type: 'json' };
import { checked } from '../../base/checked.js';
import { badRequest } from '../../base/errors.js';
import { redact, redacted } from '../../base/redact.js';
import { faultInJson } from '../../faults/faults.js';
import { activeFault, type FaultResponse } from '../../faults/rule.js';
import { isSecretHeader } from '../../http/log/credentials.js';
import type { RequestRecord } from '../../http/log/request-record.js';
import { activeReply, replyFrom, replyInJson } from '../bodies.js';
import type { EmulatorParts } from '../parts.js';
import { type openedCase, requestRecord } from '../responses.js';
import { inContent, maskedFault, maskedReply, maskedRequest, maskedState } from './mask.js';
import { currentState, type EmulatorState, restoreState } from './state.js';
import { checkedState, stateWithoutKeys } from './state-schema.js';

/** What can be hidden in a case. */
export type Mask = (typeof MASKS)[number];
const MASKS = ['keys', 'prompts'] as const;

/** A snapshot without what gives keys away; who opens it keeps the keys that they have. */
type StateWithoutKeys = Omit<EmulatorState, (typeof KEY_FIELDS)[number]> & {
  /** The user of the first session, in whose place that of the reader comes. */
  firstUser: string;
};
const KEY_FIELDS = ['seed', 'sequences', 'apiKeys', 'sessions', 'idempotency'] as const;

/** How to export a case. */
interface CaseOptions {
  /** The ids of the requests. */
  requests: readonly string[];
  masks: readonly Mask[];
  withState: boolean;
  note: string | undefined;
}

const FORMAT = 'context-gateway-emulator/case';

/**
 * Exports what others need to see a failure: requests, faults, scripted replies and data. Rules and replies that are
 * functions or match by a function are left out.
 */
export function exportCase(parts: EmulatorParts, { requests, masks, withState, note = '' }: CaseOptions) {
  const { log, stores } = parts;
  const hidesPrompts = masks.includes('prompts');
  const records = requests.flatMap((id) => log.find(id) ?? []);
  const faults = parts.faults.list().filter(({ match }) => !(match.path instanceof RegExp));
  const replies = parts.chat.list().filter((one) => ![one.match, one.reply].some((it) => typeof it === 'function'));
  const rules = faults.map(faultInJson).map(withoutSecrets);
  const scripts = replies.map(replyInJson);
  const state = hidesPrompts ? maskedState(currentState(parts)) : currentState(parts);
  return {
    format: FORMAT,
    version: 1,
    emulator: packageJson.version,
    exportedAt: new Date().toISOString(),
    masked: [...masks],
    ...redacted({
      note,
      requests: hidesPrompts ? records.map(maskedRequest) : records,
      faults: hidesPrompts ? rules.map(maskedFault) : rules,
      replies: hidesPrompts ? scripts.map(maskedReply) : scripts,
    }),
    ...(withState && { state: masks.includes('keys') ? withoutKeys(state, stores.sessions.first.userId) : state }),
  };
}

/** A rule that matches one key matches any key instead, so that the key is not in the file. */
function withoutSecrets({ match, ...rule }: ReturnType<typeof faultInJson>): ReturnType<typeof faultInJson> {
  const header = Object.entries(match.header ?? {}).map(([name, value]) => [name, isSecretHeader(name) ? '*' : value]);
  return { ...rule, match: { ...match, ...(match.header && { header: Object.fromEntries(header) }) } };
}

function withoutKeys(state: EmulatorState, firstUser: string): StateWithoutKeys {
  const { seed: _s, sequences: _q, apiKeys: _k, sessions: _t, idempotency: _i, files, ...rest } = state;
  const safe = files.map((file) => ({ ...file, content: inContent(file.content, redact) }));
  return redacted({ ...rest, files: safe, firstUser });
}

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
  for (const { match, remaining, respond } of faults)
    parts.faults.add({ match, times: remaining ?? Number.POSITIVE_INFINITY, respond: respond as FaultResponse });
  parts.chat.clear();
  // The reply added last is tried first.
  for (const { match, reply } of replies.map(replyFrom).reverse()) parts.chat.add(match, reply);
  for (const given of requests) {
    // Its schema covers every field that the log relies on.
    const record = given as RequestRecord;
    if (Number.isNaN(Date.parse(record.receivedAt))) throw badRequest('receivedAt', 'receivedAt is not a time');
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
  const own = currentState(parts);
  const { userId } = parts.stores.sessions.first;
  const mine = (id: string): string => (id === firstUser ? userId : id);
  return checkedState({
    ...state,
    ...Object.fromEntries(KEY_FIELDS.map((name) => [name, own[name]])),
    conversations: state.conversations.map((one) => ({ ...one, ownerId: mine(one.ownerId) })),
    memory: state.memory.map((item) => ({ ...item, ownerId: mine(item.ownerId) })),
    workspaces: state.workspaces.map((one) => ({ ...one, members: one.members.map(mine) })),
  });
}

/** A case. */
export const caseForm = z.object({
  format: z.literal(FORMAT),
  version: z.literal(1),
  emulator: z.optional(z.string()),
  exportedAt: z.optional(z.string()),
  note: z.optional(z.string()),
  masked: z.optional(z.array(z.enum(MASKS))),
  requests: z.array(requestRecord),
  faults: z.array(activeFault),
  replies: z.array(activeReply),
  state: z.optional(z.unknown()),
});
