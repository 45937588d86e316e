import { redact } from '../base/redact.js';
import { startOf } from '../base/start-of.js';
import { requestLine } from '../http/log/request-line.js';
import type { RequestRecord } from '../http/log/request-record.js';

/** A request that a test expects. Omitted fields match anything. */
export interface ExpectedRequest {
  method?: string | undefined;
  /** The path, compared with its query only if you include one, or a regular expression for path and query. */
  path?: string | RegExp | undefined;
  /** The JSON body, or the fields to compare. May contain matchers such as `expect.any(String)`. */
  body?: unknown;
  status?: number | undefined;
  /** How many matching requests there must be. @default one or more */
  times?: number | undefined;
}

/** Whether the expected request was received, with a message for a failed assertion. */
export interface ReceivedResult {
  pass: boolean;
  message: string;
}

/** Looks for an expected request among those that an emulator received. */
export function received(requests: readonly RequestRecord[], expected: ExpectedRequest): ReceivedResult {
  const misspelt = Object.keys(expected).find((name) => !FIELDS.includes(name));
  if (misspelt !== undefined) throw new Error(`There is no field ${misspelt}. Use ${FIELDS.join(', ')}.`);
  const compared = requests.map((request) => ({ request, differences: differencesOf(request, expected) }));
  const found = compared.filter(({ differences }) => differences.length === 0).length;
  const { times } = expected;
  const unknown =
    expected.body !== undefined && compared.find(({ request, differences }) => isUnknown(request, differences));
  if (unknown && (times !== undefined || found === 0)) throw new Error(cutMessage(unknown.request));
  const lines = compared.map(({ request, differences }) => {
    const isNear = differences.length > 0 && differences.every(({ isEndpoint }) => !isEndpoint);
    const note = isNear ? `  <- ${differences.map(({ text }) => text).join(', ')}` : '';
    return `  ${requestLine(request, false)}${note}`;
  });
  const count = found === 0 ? 'none' : String(found);
  return {
    pass: times === undefined ? found > 0 : found === times,
    message: `${wanted(expected)}; received ${count}.\n\n${listed(lines)}`,
  };
}

const FIELDS = ['method', 'path', 'body', 'status', 'times'];

/** All received requests, one per line. */
export function receivedRequests(requests: readonly RequestRecord[]): string {
  return listed(requests.map((request) => `  ${requestLine(request, false)}`));
}

function listed(lines: readonly string[]): string {
  if (lines.length === 0) return 'The emulator received no requests.';
  const left = lines.length - MOST_LINES;
  const shown = left > 0 ? [`  … ${left} earlier`, ...lines.slice(-MOST_LINES)] : lines;
  return `The emulator received ${lines.length} ${lines.length === 1 ? 'request' : 'requests'}:\n${shown.join('\n')}`;
}

const MOST_LINES = 50;

function wanted({ method, path, body, status, times }: ExpectedRequest): string {
  const what = [method?.toUpperCase(), path === undefined ? undefined : String(path)].filter(Boolean).join(' ');
  const details = [
    status === undefined ? '' : ` with status ${status}`,
    body === undefined ? '' : `${status === undefined ? ' with' : ' and'} body ${shown(body)}`,
  ];
  return `Expected ${times ?? 'one or more'} × ${what || 'any request'}${details.join('')}`;
}

interface Difference {
  text: string;
  /** The request went to another endpoint. */
  isEndpoint: boolean;
  isBody?: boolean;
}

function differencesOf(request: RequestRecord, expected: ExpectedRequest): Difference[] {
  const found: Difference[] = [];
  if (expected.method !== undefined && expected.method.toUpperCase() !== request.method)
    found.push({ text: 'different method', isEndpoint: true });
  if (expected.path !== undefined && !fitsPath(request.path, expected.path))
    found.push({ text: 'different path', isEndpoint: true });
  if (expected.status !== undefined && expected.status !== request.status)
    found.push({ text: `status ${request.status ?? 'unknown'}`, isEndpoint: false });
  if (expected.body !== undefined) {
    const difference = firstDifference(jsonOf(request.body), expected.body, 'body');
    if (difference !== undefined) found.push({ text: difference, isEndpoint: false, isBody: true });
  }
  return found;
}

/** Only the body differs, and the log has only part of it. */
function isUnknown({ isBodyCut }: RequestRecord, differences: readonly Difference[]): boolean {
  return isBodyCut && differences.length > 0 && differences.every(({ isBody }) => isBody);
}

function cutMessage({ method, path }: RequestRecord): string {
  return `The body of ${method} ${path} is not complete in the log, which keeps 64 KB, so it cannot be compared. Match the request by method, path or status.`;
}

function fitsPath(actual: string, expected: string | RegExp): boolean {
  if (typeof expected !== 'string') return actual.search(expected) !== -1;
  return expected === (expected.includes('?') ? actual : actual.split('?')[0]);
}

/** The first place where a value differs from the expected one, with the actual value. */
function firstDifference(actual: unknown, expected: unknown, path: string): string | undefined {
  const other = `${path} is ${shown(actual)}`;
  if (isMatcher(expected)) return expected.asymmetricMatch(actual) ? undefined : other;
  // The log hides keys, so they are hidden in the expected value as well.
  if (typeof expected === 'string') return actual === redactedInJson(expected) ? undefined : other;
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected) ? undefined : other;
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== Array.isArray(expected)) return other;
  if (Array.isArray(expected) && expected.length !== (actual as unknown[]).length) return other;
  for (const [name, value] of Object.entries(expected)) {
    // In an array, the name is an index.
    const inner = Object.hasOwn(actual, name) ? (actual as Record<string, unknown>)[name] : undefined;
    const difference = firstDifference(inner, value, `${path}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** The text as it appears in the log, which redacts the JSON as it was sent. */
function redactedInJson(text: string): string {
  return JSON.parse(redact(JSON.stringify(text)));
}

/** A matcher of the test runner, such as `expect.any(String)`. */
function isMatcher(value: unknown): value is { asymmetricMatch(actual: unknown): boolean } {
  return typeof value === 'object' && value !== null && 'asymmetricMatch' in value;
}

function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function shown(value: unknown): string {
  const text = isMatcher(value)
    ? String(value)
    : JSON.stringify(value, (_, inner) => (isMatcher(inner) ? String(inner) : inner));
  return text === undefined ? 'missing' : text.length > MOST_TEXT ? `${startOf(text, MOST_TEXT)}…` : text;
}

const MOST_TEXT = 200;
