import { badRequest, HttpError } from '../base/errors.js';

/** Reads the body. Throws a 413 as soon as it exceeds the limit, without reading the rest. */
export async function readBytes(request: Request, limit: number, param: string): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > limit) throw tooLarge(limit, param);
  // A small body with a Content-Length is read at once, which is by far the fastest.
  if (announced > 0 && announced <= SMALL_BODY) return new Uint8Array(await request.arrayBuffer());
  if (request.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  // What is too large is left, not cancelled: from Node 24 on, a form whose next part is being read ends the process.
  const reader = request.body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.byteLength;
    if (size > limit) throw tooLarge(limit, param);
    chunks.push(read.value);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** Parses a multipart body. Throws a 400 if it is not valid. */
export async function parseMultipart(bytes: Uint8Array, contentType: string | null): Promise<FormData> {
  if (contentType === null || !/^multipart\/form-data\s*;/i.test(contentType)) {
    throw badRequest('file', 'The request must be multipart/form-data', 'invalid_content_type');
  }
  try {
    return await new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { 'content-type': contentType },
    }).formData();
  } catch {
    throw badRequest('file', 'The multipart body could not be read', 'invalid_multipart');
  }
}

function tooLarge(limit: number, param: string): HttpError {
  const code = param === 'file' ? 'file_too_large' : 'body_too_large';
  return new HttpError(413, `The ${param} is larger than ${limit} bytes`, { param, code });
}

const SMALL_BODY = 1024 * 1024;
