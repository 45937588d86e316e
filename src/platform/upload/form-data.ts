import type { Form, ProgressListener, Upload } from '../engine.js';
import { badFile, copyOfBytes, escapeName, fileName, isPath, isStream, refusePath } from './file.js';
import { wholeUpload } from './whole.js';

/** A form written by the platform. It takes only files that can be sent as a whole, as in browsers. */
export function formData({ fields, file, filename, type }: Form, listener: ProgressListener): Upload {
  const given = blobOf(file);
  const blob = type === undefined ? given : given.slice(0, given.size, type);
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  // Browsers escape it themselves. workerd does not, and a quote or a line break would end the header.
  form.append('file', blob, escapeName(fileName(filename ?? (given as Partial<File>).name)));
  return wholeUpload(form, undefined, blob.size, listener);
}

function blobOf(file: unknown): Blob {
  if (/(?:Blob|File)]$/.test(Object.prototype.toString.call(file))) return file as Blob; // also of another frame
  const bytes = copyOfBytes(file);
  if (bytes !== undefined) return new Blob([bytes]);
  if (isStream(file))
    throw badFile('browsers cannot stream an upload; pass a Blob or a File, such as await new Response(stream).blob()');
  if (isPath(file)) refusePath();
  throw badFile('expected a File, Blob, Uint8Array or ArrayBuffer');
}
