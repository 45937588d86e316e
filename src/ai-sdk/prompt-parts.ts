import { UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type { ChatContentPart, ChatMessage, ToolCall } from '../index.js';
import type { PromptPart } from './specification.js';

/** The content of a message: text alone as a string, otherwise parts. */
export function toContent(role: string, parts: readonly PromptPart[]): string | ChatContentPart[] {
  const sent = parts.filter(({ type }) => !['reasoning', 'tool-call', 'tool-result'].includes(type));
  if (sent.every(({ type }) => type === 'text')) return sent.map(({ text }) => String(text)).join('\n');
  return sent.map((part) => {
    const sendable = toPart(part);
    if (sendable === undefined) throw unsupported(role, part);
    return sendable;
  });
}

/** The calls of tools in a message of the assistant. */
export function toToolCalls(parts: readonly PromptPart[]): ToolCall[] {
  return parts
    .filter(({ type }) => type === 'tool-call')
    .map(({ toolCallId = '', toolName = '', input }) => ({
      id: toolCallId,
      type: 'function',
      function: { name: toolName, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) },
    }));
}

/** A message for each result of a tool. */
export function toToolMessages(parts: readonly PromptPart[]): ChatMessage[] {
  return parts
    .filter(({ type }) => type === 'tool-result')
    .map(({ toolCallId, output }) => ({ role: 'tool', tool_call_id: toolCallId, content: toResult(output) }));
}

/** The output of a tool, as every version of the AI SDK passes it. */
function toResult(output: unknown): string | ChatContentPart[] {
  const { type, value, reason } = Object(output) as { type?: string; value?: unknown; reason?: string };
  if (type === 'execution-denied') return reason ?? 'The execution of this tool was denied.';
  if (type === 'content' && Array.isArray(value)) {
    const parts = value.map((part) => toResultPart(part) ?? { type: 'text' as const, text: `[${kindOf(part)}]` });
    const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []));
    return texts.length === parts.length ? texts.join('\n') : parts;
  }
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** A part of a tool's output: `media` in version 2 of the interface, `image-data`, `file-url` and the like since version 3. */
function toResultPart(part: PromptPart): ChatContentPart | undefined {
  const { type, data, url } = part as PromptPart & { url?: unknown };
  if (type === 'text') return toPart(part);
  if (data === undefined && url === undefined) return { type: 'text', text: JSON.stringify(part) };
  return toPart({ ...part, type: 'file', mediaType: kindOf(part), data: data ?? url });
}

function kindOf({ type, mediaType }: PromptPart): string {
  return mediaType ?? (type.startsWith('image') ? 'image/*' : 'file');
}

/** The types of the files in tools' outputs that cannot be sent. */
export function leftOutOf(parts: readonly PromptPart[]): string[] {
  return parts.flatMap(({ type, output }) => {
    const { value } = Object(type === 'tool-result' ? output : undefined) as { value?: unknown };
    return Array.isArray(value) ? value.filter((part) => toResultPart(part) === undefined).map(kindOf) : [];
  });
}

/** A part as it is sent. `undefined` if the Gateway takes none of its kind. */
function toPart({
  type,
  text,
  mediaType = '',
  filename = 'document.pdf',
  data,
}: PromptPart): ChatContentPart | undefined {
  if (type === 'text') return { type, text: String(text) };
  const file = type === 'file' ? dataOf(data) : undefined;
  if (file?.text !== undefined) return { type: 'text', text: file.text };
  const isImage = /^image(?:\/|$)/.test(mediaType);
  if (isImage && file?.url !== undefined) return { type: 'image_url', image_url: { url: file.url } };
  if (file?.base64 === undefined) return undefined;
  const url = `data:${/^image(\/\*)?$/.test(mediaType) ? 'image/jpeg' : mediaType};base64,${file.base64}`;
  if (isImage) return { type: 'image_url', image_url: { url } };
  if (mediaType === 'application/pdf') return { type: 'file', file: { filename, file_data: url } };
  const [, format] = /^audio\/(?:x-)?(wav|mp3|mpeg)$/.exec(mediaType) ?? [];
  if (format === undefined) return undefined;
  return { type: 'input_audio', input_audio: { data: file.base64, format: format === 'mpeg' ? 'mp3' : format } };
}

/** The data of a file: bytes, base64 or a URL; since version 4 of the interface, in an object that says which. */
function dataOf(data: unknown): { url?: string; base64?: string; text?: string } | undefined {
  if (data instanceof URL) return { url: data.href };
  if (typeof data === 'string') return /^https?:\/\//.test(data) ? { url: data } : { base64: data };
  if (data instanceof Uint8Array) return { base64: base64Of(data) };
  const tagged = Object(data) as { type?: string; data?: unknown; url?: unknown; text?: unknown };
  if (tagged.type === 'text') return { text: String(tagged.text) };
  if (tagged.type === 'data' || tagged.type === 'url') return dataOf(tagged.data ?? tagged.url);
  return undefined;
}

/** In steps, because a call takes only some ten thousand arguments. */
function base64Of(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8_192) binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(binary);
}

function unsupported(role: string, { type, mediaType = type, data }: PromptPart): UnsupportedFunctionalityError {
  const what = dataOf(data)?.url === undefined ? mediaType : `${mediaType} URL`;
  const message = `The Gateway takes text, images, audio (wav, mp3) and PDF files, and this ${role} message has a ${what} part.`;
  return new UnsupportedFunctionalityError({ functionality: `${what} parts`, message });
}
