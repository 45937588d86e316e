/** What the server answers, as bytes made ready before they are asked for. The model asked for names the answer: `json-1000`. */

const completion = {
  id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
  created: 1760000000,
  model: 'atlas-large-2026-08-06',
};
const usage = { prompt_tokens: 12, completion_tokens: 120, total_tokens: 132 };
const SENTENCE =
  'The Danube rises in the Black Forest, and it ends in a delta at the Black Sea after 2,850 kilometres. ' +
  'On its way it meets ten countries and four capitals: no other river of the world has as many.\n\n' +
  'Its "iron gates" were blasted open; ships pass them since 1896, and dams have tamed them since the year 1972. ';
/** As a tokenizer would cut it: most tokens are plain, some hold a line break or a quotation mark, which JSON escapes. */
const TOKENS = SENTENCE.match(/\s?[\w,.:;-]+|\s+|"/g);

/** `json-BYTES`: a whole completion of about so many bytes. */
export function json(bytes) {
  const content = SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, Math.max(1, bytes - 400));
  const message = { role: 'assistant', content, refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
  const body = { ...completion, object: 'chat.completion', choices, usage, system_fingerprint: 'fp_44709d6fcb' };
  return Buffer.from(JSON.stringify(body));
}

/** Events of about 300 bytes. `varied` changes more than the content in each, as services do that stamp their chunks. */
function event(at, varied) {
  const content = TOKENS[at % TOKENS.length];
  const chunk = {
    ...completion,
    object: 'chat.completion.chunk',
    system_fingerprint: varied ? `fp_${(at + 1e9).toString(16)}` : 'fp_44709d6fcb',
    service_tier: 'default',
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
    usage: null,
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** What an event of `stream-…` takes on average, for those who count bytes only. */
export const EVENT_BYTES = TOKENS.reduce((sum, _, at) => sum + event(at, false).length, 0) / TOKENS.length;

const finish = {
  ...completion,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
};
const FINISH = `data: ${JSON.stringify(finish)}\n\ndata: [DONE]\n\n`;

/** `stream-EVENTS-PER_SEGMENT` and `varied-EVENTS-PER_SEGMENT`: the segments of a chunked body, without its end. */
export function segments(events, perSegment, varied) {
  const all = [];
  // Segments that begin with the same token are the same bytes: a stream of 300 MB takes a few of them.
  const ready = new Map();
  for (let at = 0; at < events; at += perSegment) {
    const count = Math.min(perSegment, events - at);
    const key = varied ? at : `${at % TOKENS.length} ${count}`;
    if (!ready.has(key)) {
      let text = '';
      for (let one = at; one < at + count; one += 1) text += event(one, varied);
      ready.set(key, httpChunk(text));
    }
    all.push(ready.get(key));
  }
  return all;
}

/** The end of every stream. */
export const END = Buffer.concat([httpChunk(FINISH), Buffer.from('0\r\n\r\n')]);

function httpChunk(text) {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}
