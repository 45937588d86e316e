import { UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type { ChatContentPart, ChatMessage, ToolCall } from '../index.js';
import type { PromptPart } from './specification.js';

/** The content of a message: text alone as a string, otherwise parts. */
export function toContent(role: string, parts: readonly PromptPart[]): string | ChatContentPart[] {
  const sent = parts.filter(({ type }) => !['reasoning', 'tool-call', 'tool-result'].includes(type));
  if (sent.every(({ type }) => type === 'text')) return sent.map(({ text }) => String(text)).join('\n');
  return sent.map((part) => toPart(role, part));
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
  const { type, text, data, url } = part as PromptPart & { url?: unknown };
  if (type === 'text') return { type: 'text', text: String(text) };
  if (data === undefined && url === undefined) return { type: 'text', text: JSON.stringify(part) };
  try {
    return toPart('tool', { ...part, type: 'file', mediaType: kindOf(part), data: data ?? url });
  } catch {
    return undefined;
  }
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

function toPart(role: string, part: PromptPart): ChatContentPart {
  if (part.type === 'text') return { type: 'text', text: String(part.text) };
  const { mediaType = '', filename } = part;
  const data = part.type === 'file' ? dataOf(part.data) : undefined;
  if (data === undefined) throw unsupported(role, part.type);
  if (data.text !== undefined) return { type: 'text', text: data.text };
  const top = mediaType.split('/')[0];
  const url = data.url ?? `data:${/^image(\/\*)?$/.test(mediaType) ? 'image/jpeg' : mediaType};base64,${data.base64}`;
  if (top === 'image') return { type: 'image_url', image_url: { url } };
  if (data.base64 === undefined) throw unsupported(role, `${mediaType} URL`);
  const format = AUDIO[mediaType];
  if (format !== undefined) return { type: 'input_audio', input_audio: { data: data.base64, format } };
  if (mediaType === 'application/pdf')
    return { type: 'file', file: { filename: filename ?? 'document.pdf', file_data: url } };
  throw unsupported(role, mediaType);
}

const AUDIO: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
};

interface FileData {
  readonly url?: string;
  readonly base64?: string;
  readonly text?: string;
}

/** The data of a file: bytes, base64 or a URL; since version 4 of the interface, in an object that says which. */
function dataOf(data: unknown): FileData | undefined {
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

function unsupported(role: string, what: string): UnsupportedFunctionalityError {
  const message = `The Gateway takes text, images, audio (wav, mp3) and PDF files, and this ${role} message has a ${what} part.`;
  return new UnsupportedFunctionalityError({ functionality: `${what} parts`, message });
}
