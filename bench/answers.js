/** The responses of the server as prepared bytes. The requested model names the response, such as `json-1000`. */

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
/** Typical model output: English with typographic quotes and dashes, German, Japanese, code and emoji. */
const TEXT =
  'It’s the only river of the world that passes four capitals — Vienna, Bratislava, Budapest and Belgrade — and it ' +
  'doesn’t end until the Black Sea, 2,850 km from where “two brooks meet,” as people say in the Black Forest. Since 1896, ' +
  'ships haven’t stopped passing its “iron gates”; dams have tamed them since 1972.\n\n' +
  'Die Donau entspringt im Schwarzwald und fließt durch zehn Länder: „so viele wie kein anderer Fluss“, heißt es. ' +
  'ドナウ川は黒い森に源を発し、およそ2850キロを流れて黒海に注ぎます。\n\n' +
  '```ts\nexport async function length(river: string): Promise<number> {\n  const { km } = await load(river);\n' +
  '  if (km === undefined) throw new Error("no such river");\n  return km * 1_000; // → metres\n}\n```\n\n' +
  'Have a good trip! 🚢 From the source 🌲 to the delta 🌊 it takes about three weeks 👍🏽 ';
/** Pieces of 1 to 12 characters, as a tokenizer cuts them. One in seven is not ASCII, and some need escapes in JSON. */
const TOKENS = TEXT.match(/ ?[A-Za-zÀ-ž0-9]{1,11}|[぀-ヿ一-龯]{1,3}|\s+| ?[^\sA-Za-zÀ-ž0-9぀-ヿ一-龯]{1,4}/gu);

/** `json-BYTES`: a completion of about that many bytes. */
export function json(bytes) {
  const content = SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, Math.max(1, bytes - 400));
  const message = { role: 'assistant', content, refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
  const body = { ...completion, object: 'chat.completion', choices, usage, system_fingerprint: 'fp_44709d6fcb' };
  return Buffer.from(JSON.stringify(body));
}

/** An event of about 270 bytes. If `varied`, more than the content differs, as if the service stamped each chunk. */
function event(at, varied) {
  const content = TOKENS[at % TOKENS.length];
  const chunk = {
    ...completion,
    object: 'chat.completion.chunk',
    system_fingerprint: varied ? `fp_${(at + 1e9).toString(16)}` : 'fp_44709d6fcb',
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

const finish = {
  ...completion,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
};
const FINISH = `data: ${JSON.stringify(finish)}\n\ndata: [DONE]\n\n`;

/** `stream-EVENTS-PER_SEGMENT` and `varied-EVENTS-PER_SEGMENT`: the segments of a chunked body, without its end. */
export function segments(events, perSegment, varied) {
  const all = [];
  // Segments that start with the same token are identical, so a stream of 300 MB shares a few buffers.
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

/** The last bytes of every stream. */
export const END = Buffer.concat([httpChunk(FINISH), Buffer.from('0\r\n\r\n')]);

function httpChunk(text) {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}
