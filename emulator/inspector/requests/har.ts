import type { RequestRecord } from '../../src/http/request-log.js';

/** The requests as an HTTP archive (HAR 1.2), which browsers and proxies can open. */
export function asHar(records: readonly RequestRecord[], origin: string): object {
  return {
    log: {
      version: '1.2',
      creator: { name: 'context-gateway-emulator', version: '1' },
      entries: records.map((record) => entryOf(record, origin)),
    },
  };
}

function entryOf(
  { method, path, headers, body, response, status, receivedAt, duration, fault, events, isBodyCut }: RequestRecord,
  origin: string,
): object {
  const url = new URL(origin + path);
  const time = duration ?? 0;
  const notes = [
    fault && `fault: ${fault}`,
    events !== undefined && `${events} events`,
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
      ...(body !== undefined && body !== '' && { postData: { mimeType: headers['content-type'] ?? '', text: body } }),
      headersSize: -1,
      bodySize: body?.length ?? 0,
    },
    response: {
      status: status ?? 0,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(response?.headers ?? {}),
      content: {
        size: response?.body.length ?? 0,
        mimeType: response?.headers['content-type'] ?? '',
        text: response?.body ?? '',
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: response?.body.length ?? 0,
    },
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
    ...(notes.length > 0 && { comment: notes.join(', ') }),
  };
}

function pairs(headers: Record<string, string>): { name: string; value: string }[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}
