/** The server, in its own process, so that its CPU time does not count. The requested model names the response. */
import { createServer } from 'node:http';

const head = { id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT', created: 1760000000, model: 'atlas-large-2026-08-06' };
const usage = { prompt_tokens: 12, completion_tokens: 120, total_tokens: 132 };
/** Typical model output: English with typographic quotes and dashes, German, Japanese, code and emoji. */
const TEXT =
  'It’s the only river of the world that passes four capitals — Vienna, Bratislava, Budapest and Belgrade — and it ' +
  'doesn’t end until the Black Sea, 2,850 km from where “two brooks meet,” as people say in the Black Forest.\n\n' +
  'Die Donau entspringt im Schwarzwald und fließt durch zehn Länder: „so viele wie kein anderer Fluss“, heißt es. ' +
  'ドナウ川は黒い森に源を発し、およそ2850キロを流れて黒海に注ぎます。\n\n' +
  '```ts\nif (km === undefined) throw new Error("no such river");\nreturn km * 1_000; // → metres\n```\n\n' +
  'Have a good trip! 🚢 From the source 🌲 to the delta 🌊 it takes about three weeks 👍🏽 ';
/** Pieces of 1 to 12 characters, as a tokenizer cuts them. */
const TOKENS = TEXT.match(/ ?[A-Za-zÀ-ž0-9]{1,11}|[぀-ヿ一-龯]{1,3}|\s+| ?[^\sA-Za-zÀ-ž0-9぀-ヿ一-龯]{1,4}/gu);

/** An event of about 270 bytes. */
function chunk(delta, finish_reason) {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
  const body = { ...head, object: 'chat.completion.chunk', system_fingerprint: 'fp_44709d6fcb', choices };
  return `data: ${JSON.stringify(body)}\n\n`;
}

function events(count) {
  return Array.from({ length: count }, (_, at) => chunk({ content: TOKENS[at % TOKENS.length] }, null)).join('');
}

const END = `${chunk({}, 'stop')}data: [DONE]\n\n`;
const message = { role: 'assistant', content: TEXT.repeat(2).slice(0, 500), refusal: null };
const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
const PLAIN = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices,
  usage,
  system_fingerprint: 'fp_44709d6fcb',
});
const STREAMS = {
  events: Buffer.from(events(10_000) + END),
  first: Buffer.from(events(1)),
};

const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  const stream = STREAMS[JSON.parse(body).model];
  const limits = { 'x-ratelimit-limit': 5_000_000, 'x-ratelimit-remaining': 4_000_000, 'x-ratelimit-reset': 60 };
  response.setHeaders(new Map(Object.entries({ ...limits, 'x-request-id': 'req_10000000000' })));
  response.setHeader('content-type', stream === undefined ? 'application/json' : 'text/event-stream');
  if (stream === STREAMS.first) {
    response.write(stream);
    setTimeout(() => response.end(END), 1);
  } else response.end(stream ?? PLAIN);
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
