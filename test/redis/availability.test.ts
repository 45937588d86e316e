import { beforeEach, describe, expect, test } from 'vitest';
import { Availability } from '../../src/redis/availability.js';
import { type ManualRuntime, manualRuntime } from '../helpers/manual-runtime.js';

const TIMEOUT = 500;
const forever = () => new Promise<never>(() => {});
const refused = () => Promise.reject(new Error('connect ECONNREFUSED'));

let time: ManualRuntime;
let events: string[];
let availability: Availability;
let probes: number;
beforeEach(() => {
  time = manualRuntime();
  events = [];
  probes = 0;
  availability = new Availability(time, TIMEOUT, ({ type }) => events.push(type));
});

/** Asks for one permit. */
const ask = <T>(answer: () => Promise<T>): Promise<T | undefined> => availability.ask(answer, 1);

/** Asks while Redis is known to be unavailable, which may try it once. */
async function askMeanwhile(answer: () => Promise<unknown> = refused): Promise<void> {
  const send = (wanted: number) => {
    expect(wanted).toBe(0); // only a try
    probes += 1;
    return answer();
  };
  expect(await availability.ask(send, 1)).toBeUndefined();
  await time.advance(0);
}

test('a response within the timeout is returned, also one that arrives just at it', async () => {
  let respond: (value: string) => void = () => {};
  const asked = ask(() => new Promise<string>((go) => (respond = go)));
  await time.advance(TIMEOUT);
  respond('PONG');

  expect(await asked).toBe('PONG');
  expect(events).toEqual([]);
  expect(time.pending).toBe(0);
});

test('a response that is 10 ms late counts as none', async () => {
  const asked = ask(forever);
  await time.advance(TIMEOUT);
  await time.advance(9);
  expect(events).toEqual([]);
  await time.advance(1);

  expect(await asked).toBeUndefined();
  expect(events).toEqual(['unavailable']);
});

test('a failure is not reported if no call waits, and the next step asks again', async () => {
  expect(await availability.ask(refused, 0)).toBeUndefined();

  expect(await ask(async () => 'PONG')).toBe('PONG');
  expect(events).toEqual([]);
});

describe('while Redis is unavailable', () => {
  beforeEach(async () => void (await ask(refused)));

  test('it is reported once, and tried once a second', async () => {
    await askMeanwhile();
    await time.advance(999);
    await askMeanwhile();
    expect(probes).toBe(0);

    await time.advance(1);
    await askMeanwhile();
    await askMeanwhile();
    expect(probes).toBe(1);

    await time.advance(1_000);
    await askMeanwhile();
    expect(probes).toBe(2);
    expect(events).toEqual(['unavailable']);
  });

  test('a try without a response is abandoned after ten seconds', async () => {
    await time.advance(1_000);
    await askMeanwhile(forever);
    await time.advance(9_999);
    await askMeanwhile();
    expect(probes).toBe(1);

    await time.advance(1);
    await askMeanwhile();
    expect(probes).toBe(2);
  });

  test('its return is reported once, even if two tries succeed', async () => {
    let respond = () => {};
    await time.advance(1_000);
    await askMeanwhile(() => new Promise<void>((go) => (respond = go)));
    await time.advance(10_000);
    await askMeanwhile(async () => {});
    respond();
    await time.advance(0);

    expect(events).toEqual(['unavailable', 'available']);
    expect(await ask(async () => 'PONG')).toBe('PONG');
  });
});
