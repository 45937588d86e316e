import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { UsageError } from './usage-error.js';

/** In bytes, of all together: about the 200,000 tokens of the largest window that the service has. */
const LARGEST = 800_000;

/** The texts of files, and of an input, each in a tag that tells the model where it ends. @throws {UsageError} */
export async function attachedText(paths: readonly string[], input?: AsyncIterable<Uint8Array>): Promise<string> {
  const texts: string[] = [];
  let room = LARGEST;
  const attach = async (what: string, name: string, source: AsyncIterable<Uint8Array>): Promise<void> => {
    const bytes = await read(what, source, room);
    room -= bytes.length;
    if (bytes.length > 0) texts.push(`<file name=${JSON.stringify(name)}>\n${textOf(what, bytes).trimEnd()}\n</file>`);
  };
  // The name alone: the folders are those of the user's machine.
  for (const path of paths) await attach(`The file ${path}`, basename(path), createReadStream(path));
  if (input !== undefined) await attach('Standard input', 'standard input', input);
  return texts.join('\n\n');
}

async function read(what: string, source: AsyncIterable<Uint8Array>, room: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > room) break; // its end may never come
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new UsageError(`${what} cannot be read: ${(cause as Error).message}.`, { cause });
  }
  if (size <= room) return Buffer.concat(chunks);
  throw new UsageError(
    `${what} is too large: files and standard input may have ${LARGEST.toLocaleString('en')} bytes together.`,
  );
}

function textOf(what: string, bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {}
  throw new UsageError(`${what} is not a text in UTF-8. Only such texts can be sent.`);
}
