import { ConfigurationError, GatewayClient, logTo } from 'context-gateway';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { chatParams, completion } from '../helpers/samples.js';
import { BASE, cannedService, failureOf, gatewayAt, json, KEY } from '../helpers/service.js';

const { answers } = cannedService();
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** A logger that keeps its lines, without their times, and with calls counted from 1. */
const recorder = () => {
  const lines: string[] = [];
  const counted = fromOne();
  const keep = (level: string) => (line: string) =>
    void lines.push(`${level}: ${counted(line).replace(/(wait|duration)=[\d.]+/g, '$1=n')}`);
  return { lines, logger: { debug: keep('debug'), warn: keep('warn') } };
};

/** The calls of a process are counted together. */
const fromOne = () => {
  const numbers: string[] = [];
  return (line: string) =>
    line.replace(/#(\d+)/, (_, number: string) => {
      if (!numbers.includes(number)) numbers.push(number);
      return `#${numbers.indexOf(number) + 1}`;
    });
};

const HEAD = 'context-gateway gateway #1 POST /v1/chat/completions';
const BUSY = { error: { message: 'busy', type: 'service_unavailable' } };

test('each event is one line: debug, or warn for what went wrong', async () => {
  const { lines, logger } = recorder();
  answers(json(BUSY, { status: 503 }), json(completion(), { headers: { 'x-request-id': 'req_7' } }));
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const gateway = gatewayAt({ onEvent: logTo(logger), maxRetries: 1 });
  await gateway.chat.completions.create({ ...chatParams, temperature: 0.25 });

  expect(lines).toEqual([
    `debug: ${HEAD}: start model=atlas-small temperature=0.25 streamed=false`,
    `debug: ${HEAD}: request attempt=1`,
    `debug: ${HEAD}: response attempt=1 status=503 duration=n`,
    `warn: ${HEAD}: retry attempt=1 reason=503 wait=n`,
    `debug: ${HEAD}: request attempt=2`,
    `debug: ${HEAD}: response attempt=2 status=200 duration=n requestId=req_7`,
    expect.stringMatching(/^debug: .*: done outcome=success .*status=200 .*"total_tokens":12/),
  ]);
});

test('a name of the service turns no direction of text around', async () => {
  const { lines, logger } = recorder();
  answers(json({ ...completion(), model: 'a\u202eb\u2066c\u200fd\u061ce' }));
  await gatewayAt({ onEvent: logTo(logger) }).chat.completions.create(chatParams);

  expect(lines.join()).not.toMatch(/\p{Bidi_Control}/u);
  expect(lines.at(-1)).toContain(String.raw`responseModel=a\u202eb\u2066c d e`);
});

test('CONTEXT_GATEWAY_LOG=debug prints to standard error, without key and prompt', async () => {
  vi.stubEnv('CONTEXT_GATEWAY_LOG', 'debug');
  const error = vi.spyOn(console, 'error').mockReturnValue();
  const log = vi.spyOn(console, 'log');
  answers(json({ ...completion(), model: `m\n${KEY}` }));
  await gatewayAt().chat.completions.create({ ...chatParams, model: 'a\nb' });

  const printed = error.mock.calls.map(String).map(fromOne());
  expect(printed[0]).toBe(`${HEAD}: start model=a b streamed=false`);
  expect(printed).toHaveLength(4);
  expect(printed.join()).not.toMatch(/Name a river|svc_sk_|\n/);
  expect(log).not.toHaveBeenCalled();
});

test('an asynchronous logger that fails ends neither the call nor the process', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => void process.off('unhandledRejection', unhandled));
  const fail = async () => Promise.reject(new Error('the disk is full'));
  answers(json({ error: { message: 'no' } }, { status: 400 }));

  await failureOf(gatewayAt({ onEvent: logTo({ debug: fail, warn: fail }) }).chat.completions.create(chatParams));
  await new Promise((resolve) => setImmediate(resolve));

  expect(unhandled).not.toHaveBeenCalled();
});

test('issues of a response that is only reported, and a failed call, are warnings', async () => {
  const { lines, logger } = recorder();
  answers(json({ ...completion(), model: 7 }), json({ error: { message: 'no' } }, { status: 400 }));
  const { completions } = gatewayAt({ onEvent: logTo(logger), validation: 'report' }).chat;
  await completions.create(chatParams);
  await failureOf(completions.create(chatParams));

  const SECOND = HEAD.replace('#1', '#2');
  expect(lines).toContain(
    `warn: ${HEAD}: validation issues=[{"path":["model"],"message":"expected string, got number"}]`,
  );
  expect(lines.slice(-2)).toEqual([
    `warn: ${SECOND}: failure attempt=1 reason=400 stop=not-repeatable`,
    expect.stringMatching(/^warn: .*: done outcome=error error=BadRequestError .*status=400/),
  ]);
});

test('a value of the variable that is neither debug nor off is an error, and so is a logger without debug and warn', () => {
  vi.stubEnv('CONTEXT_GATEWAY_LOG', 'verbose');
  expect(() => new GatewayClient({ baseURL: BASE, apiKey: KEY })).toThrow(ConfigurationError);
  expect(() => logTo({} as never)).toThrow('logTo takes an object with debug and warn');
});
