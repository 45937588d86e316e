/** Headers that do not fit a body which was read. */
const OF_THE_WIRE = ['connection', 'content-length', 'keep-alive', 'transfer-encoding'];
/** What every platform decodes. */
const DECODED = /^(?:x-gzip|gzip|deflate|br)$/i;

/** The headers of a response that is passed on, and the type of its body if that was written anew: then it is not encoded. */
export function passedHeaders(given: Headers, type?: string): Headers {
  const headers = new Headers(given);
  for (const name of OF_THE_WIRE) headers.delete(name);
  if (type !== undefined || DECODED.test(headers.get('content-encoding') ?? '')) headers.delete('content-encoding');
  if (type !== undefined) headers.set('content-type', type);
  return headers;
}
