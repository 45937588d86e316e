import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createEmulator, type Emulator, type EmulatorOptions, type MessageInput } from '../src/index.js';

/** A parsed response. Its body is untyped: each test asserts what it contains. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field and states what it expects of it
  body: any;
}

/** An emulator with a stopped clock and the same ids in every run. */
export function testEmulator(options: EmulatorOptions = {}): Emulator {
  const stored = process.env[STORAGE_OF_TESTS] === 'file' ? { data: dataDirectory() } : {};
  return createEmulator({ seed: 'test', now: '2026-01-15T10:00:00.000Z', ...stored, ...options });
}

/** If this environment variable is `file`, every `testEmulator` stores its data in a directory. */
export const STORAGE_OF_TESTS = 'EMULATOR_TEST_STORAGE';

/** A new directory, which is removed when the process exits. */
export function dataDirectory(): string {
  return mkdtempSync(join(DIRECTORIES, 'data-'));
}

const DIRECTORIES = mkdtempSync(join(tmpdir(), 'emulator-'));
process.once('exit', () => rmSync(DIRECTORIES, { recursive: true, force: true }));

/** Sends requests with JSON or a form. */
export const sender =
  (fetcher: typeof fetch, base: string) =>
  async (method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Answer> => {
    const init: RequestInit =
      body === undefined || body instanceof FormData
        ? { headers, body: body ?? null }
        : { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
    const response = await fetcher(base + path, { method, ...init });
    const said = await response.text();
    return { status: response.status, headers: response.headers, body: said === '' ? undefined : JSON.parse(said) };
  };

/** Calls with valid credentials, which a test can replace. */
export function callsTo(emulator: Emulator, fetcher: typeof fetch = emulator.fetch, base = 'http://emulator.test') {
  const send = sender(fetcher, base);
  const key = () => ({ authorization: `Bearer ${emulator.apiKeys.secret}` });
  return {
    context: (method: string, path: string, body?: unknown, token = emulator.sessionToken) =>
      send(method, path, body, { authorization: `Bearer ${token}` }),
    gateway: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(method, path, body, { ...key(), ...headers }),
    bare: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(method, path, body, headers),
    control: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(method, `/_emulator${path}`, body, headers),
    /** Requests a completion. */
    ask: (content: string, more: object = {}, headers: Record<string, string> = {}) => {
      const body = { model: 'atlas-small', messages: [{ role: 'user', content }], ...more };
      return send('POST', '/v1/chat/completions', body, { ...key(), ...headers });
    },
    upload: (file: File) => {
      const form = new FormData();
      form.set('purpose', 'x');
      form.set('file', file);
      return send('POST', '/v1/files', form, key());
    },
  };
}

/** The response to a GET at this port, with any `Host`, which fetch would not send. */
export async function answerAt(port: number, path: string, headers: Record<string, string>, host = '127.0.0.1') {
  const [response] = (await once(get({ host, port, path, headers }), 'response')) as [IncomingMessage];
  return { status: response.statusCode, text: await text(response) };
}

/** Requests a streamed completion and returns the response unread. */
export function openStream(
  emulator: Emulator,
  content: string,
  more: object = {},
  init: RequestInit = {},
): Promise<Response> {
  return emulator.fetch('http://emulator.test/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.apiKeys.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'atlas-small', stream: true, messages: [{ role: 'user', content }], ...more }),
    ...init,
  });
}

/** The data of each event. */
export function eventsOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));
}

const said = (id: string, role: MessageInput['role'], content: string): MessageInput => ({ id, role, content });

/** Goals, decisions, requirements, questions, a definition and references, followed by small talk. */
export const PROJECT_TALK: MessageInput[] = [
  said('goal', 'user', 'Our goal is to move the invoice export to a service of its own before summer.'),
  said('ack', 'assistant', 'Understood. Where does the export run today, and how large is the largest one?'),
  said('file', 'user', 'It runs nightly from jobs/export.py, and the failures are tracked in BILL-212.'),
  said('req', 'user', 'Every export must be finished by six in the morning on working days.'),
  said('dec', 'user', 'We decided to write Parquet files because the finance team loads them directly.'),
  said('def', 'assistant', 'Manifest means the list of files of one export with their checksums.'),
  said('link', 'user', 'The layout is described at https://docs.example.com/exports?part=2 for everyone.'),
  said('open', 'assistant', 'Which customers should we move to the new export first?'),
  said('plan', 'user', 'Next step: prepare a dry run for three small customers by Friday.'),
  ...Array.from({ length: 11 }, (_, i) =>
    said(
      `talk${i}`,
      i % 2 === 0 ? 'assistant' : 'user',
      `Thanks, that was helpful; the weather on day ${i} is quite nice here and lunch is ready.`,
    ),
  ),
];

/** A conversation to paste, with more decisions and requirements than an aggressive compaction can keep. */
export const TRANSCRIPT = `User: Our goal is to replace the old invoice export before the end of the quarter.
Assistant: Understood. How large is the largest export, and where does it run today?
User: About 40 GB, as a nightly job in jobs/export.py. The failures are tracked in BILL-212.
Assistant: Then memory is the likely cause. It reads everything before it writes the first line.
User: Every export must be finished by six in the morning, and it must never contain the data of two customers.
Assistant: Should we write CSV or Parquet?
User: We decided to write Parquet because the finance team loads it directly.
Assistant: Noted. A manifest means the list of files of one export with their checksums.
User: We agreed to sign every manifest with the key of the tenant.
Assistant: Where do we keep the state of a run?
User: We decided to keep the state of a run in PostgreSQL because it is backed up already.
Assistant: Fine. Retries must never send the same invoice twice.
User: The retention of raw exports must be ninety days because the auditors ask for it.
Assistant: I will write that down. Which customers do we move first?
User: That is still to be decided. Next step: you prepare a dry run for three small customers by Friday.
Assistant: I will run python jobs/export.py --dry-run for them and report what it would write.
User: Thanks. The weather is quite nice here, and lunch is ready.
Assistant: Enjoy it. I will be back with the report.
`;
