import type { Uploadable } from 'context-gateway';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as browser from '../../src/platform/browser.js';
import * as node from '../../src/platform/node.js';
import * as worker from '../../src/platform/worker.js';
import { BASE, failureOf, gatewayAt } from '../helpers/service.js';

vi.mock('#platform', () => import('../../src/platform/worker.js'));

afterEach(() => vi.unstubAllGlobals());

const answering = () => vi.fn(async (_url: string, _init: RequestInit) => Response.json({ id: 'f1' }));
const upload = (file: Uploadable, fetch: unknown) =>
  gatewayAt({ fetch: fetch as never, apiKey: 'svc_pk_abc' }).files.upload({ file, purpose: 'test' });

test('the platforms of browsers and workers export everything that the one of Node does', () => {
  const platforms: (typeof node)[] = [browser, worker];

  for (const platform of platforms) expect(Object.keys(platform)).toEqual(expect.arrayContaining(Object.keys(node)));
});

describe('a server-side worker', () => {
  test('streams an upload', async () => {
    const fetch = vi.fn(async (_url: string, { body }: RequestInit) =>
      Response.json({ sent: await new Response(body).text() }),
    );

    const record = await upload(new Blob(['some text']).stream(), fetch);

    expect(record.sent).toContain('\r\n\r\nsome text\r\n--');
    expect(fetch.mock.calls[0]?.[1]).toMatchObject({ duplex: 'half' });
  });

  test('reports the target host of a redirect, and does not follow it', async () => {
    const fetch = vi.fn(async () => new Response(null, { status: 302, headers: { location: 'https://other.test/' } }));

    expect(await failureOf(gatewayAt({ fetch }).presets.list())).toMatchObject({
      status: 302,
      message: expect.stringContaining('other.test'),
    });
    expect(fetch).toHaveBeenCalledWith(`${BASE}/v1/presets`, expect.objectContaining({ redirect: 'manual' }));
  });

  test('rejects a file path', async () => {
    expect(await failureOf(upload({ path: '/etc/hosts' }, answering()))).toMatchObject({
      name: 'RequestValidationError',
    });
  });
});

test('a web worker has the limits of a page', async () => {
  vi.stubGlobal('importScripts', () => {});
  vi.stubGlobal('process', undefined);
  const fetch = answering();
  await upload(new Blob(['some text']), fetch);

  expect(fetch.mock.calls[0]?.[1]).toMatchObject({ redirect: 'error', credentials: 'omit' });
  expect(await failureOf(upload(new Blob().stream(), fetch))).toMatchObject({ name: 'RequestValidationError' });
});
