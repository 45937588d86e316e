import type { RequestRecord } from '../../http/log/request-record.js';

/** The requests as an HTTP archive (HAR 1.2), which browsers and proxies can open. */
export function asHar(records: readonly RequestRecord[], origin: string, version: string): object {
  return {
    log: {
      version: '1.2',
      creator: { name: 'context-gateway-emulator', version },
      pages: [],
      entries: records.map((record) => entryOf(record, origin)),
    },
  };
}

function entryOf(record: RequestRecord, origin: string): object {
  const { method, path, headers, body, response, status = 0, receivedAt, duration: time = 0, isBodyCut } = record;
  const url = new URL(origin + path);
  // A stream waits until its first event; the rest of the time it is received.
  const wait = Math.min(time, response?.events?.[0]?.at ?? time);
  const sent = body ?? '';
  const received = response?.body ?? '';
  const notes = [
    record.fault && `fault: ${record.fault}`,
    record.stoppedBy && `stopped by: ${record.stoppedBy}`,
    record.events !== undefined && `${record.events} events`,
    isBodyCut && 'only a part of the request body is logged',
    response?.isBodyCut && 'only the first 64 KB of the response are logged',
  ].filter(Boolean);
  return {
    startedDateTime: receivedAt,
    time,
    request: {
      method,
      url: url.href,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(headers),
      queryString: [...url.searchParams].map(([name, value]) => ({ name, value })),
      ...(sent !== '' && { postData: { mimeType: headers['content-type'] ?? '', params: [], text: sent } }),
      headersSize: -1,
      bodySize: Buffer.byteLength(sent),
    },
    response: {
      status,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(response?.headers ?? {}),
      content: {
        size: Buffer.byteLength(received),
        mimeType: response?.headers['content-type'] ?? 'x-unknown',
        text: received,
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: Buffer.byteLength(received),
    },
    cache: {},
    timings: { send: 0, wait, receive: time - wait },
    ...(notes.length > 0 && { comment: notes.join(', ') }),
  };
}

function pairs(headers: Record<string, string>): { name: string; value: string }[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}
