import { redacted } from '../../base/redact.js';
import { headerOf } from './attempts.js';
import { credentialsOf } from './credentials.js';
import type { LogEntry } from './log-entry.js';
import { askedIn } from './said.js';

interface Subject {
  model: string | undefined;
  conversation: string | undefined;
  asked?: string | undefined;
}

/** What a request is about: the model and the conversation that it names, and what it asks, without keys. */
export function subjectOf(entry: LogEntry): Subject {
  return redacted(named(entry), credentialsOf(entry));
}

function named(entry: LogEntry): Subject {
  const [path = '', query] = entry.path.split('?');
  const isCompletion = /^\/v1\/(?:chat\/completions|presets\/[^/]+\/execute)$/.test(path);
  if (isCompletion) {
    const asked = entry.isBodyCut ? undefined : askedIn(entry, Object(jsonOf(entry.body)));
    return { model: textFieldOf(entry, 'model'), conversation: headerOf(entry, CONVERSATION_HEADER), asked };
  }
  const [, inPath] = /^\/api\/context\/(?:pin|exclude)\/([^/]+)/.exec(path) ?? [];
  const given = inPath ?? new URLSearchParams(query).get('conversationId') ?? undefined;
  const isAbout = path.startsWith('/api/context');
  return { model: undefined, conversation: given ?? (isAbout ? textFieldOf(entry, 'conversationId') : undefined) };
}

/** The header with which a program says what conversation a completion belongs to. */
const CONVERSATION_HEADER = 'x-emulator-conversation';

/** A text field of the body. Of a cut body, the first field of this name. */
function textFieldOf({ body, isBodyCut }: LogEntry, name: string): string | undefined {
  // linear: the name of a field, and spaces that only the colon ends
  if (isBodyCut) return new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]{1,200})"`).exec(decoder.decode(body))?.[1];
  const value = Object(jsonOf(body))[name];
  return typeof value === 'string' ? value : undefined;
}

function jsonOf(body: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    return undefined;
  }
}

/** The code in an error body, or else its type; undefined if there is none. */
export function errorCodeIn(body: string): string | undefined {
  try {
    const { code, type } = JSON.parse(body)?.error ?? {};
    return [code, type].find((text) => typeof text === 'string' && text !== '');
  } catch {
    return undefined;
  }
}

/** The code in an event of a stream that reports an error. */
export function errorCodeInEvent(event: string | Uint8Array): string | undefined {
  const start = typeof event === 'string' ? event : decoder.decode(event.subarray(0, ERROR_EVENT.length));
  if (!start.startsWith(ERROR_EVENT)) return undefined;
  return errorCodeIn((typeof event === 'string' ? event : decoder.decode(event)).slice('data: '.length));
}

const ERROR_EVENT = 'data: {"error"';
const decoder = new TextDecoder();
