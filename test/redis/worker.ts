/** One process of the fleet. It calls at a steady rate above its share of the limit, and reports the results. */
import { GatewayClient, RateLimitError } from '../../src/index.js';
import { redisLimiter } from '../../src/redis/index.js';
import { type ClientName, openClient } from './clients.js';

export interface Work {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly redisPort: number;
  readonly client: ClientName;
  /** Calls per second, and how many may run at once. */
  readonly rate: number;
  readonly most: number;
  /** The offset of the wall clock of the process in ms. */
  readonly clockOff: number;
}

/** What happened since the last report. */
export interface Report {
  readonly served: number;
  readonly failed: readonly string[];
}

const work = JSON.parse(process.argv[2] ?? '') as Work; // written by the fleet
if (work.clockOff !== 0) shiftClock(work.clockOff);

let served = 0;
let failed: string[] = [];
let underWay = 0;
const redis = openClient(work.client, work.redisPort);
const onEvent = (): void => {}; // without it, an outage would print a warning
const pacing = redisLimiter({ client: redis.client, name: work.apiKey, timeout: 1_000, onEvent });
const gateway = new GatewayClient({ baseURL: work.baseURL, apiKey: work.apiKey, pacing });

const call = async (): Promise<void> => {
  underWay += 1;
  try {
    await gateway.presets.list();
    served += 1;
  } catch (error) {
    failed.push(error instanceof RateLimitError ? 'RateLimitError' : String(error));
  } finally {
    underWay -= 1;
  }
};
const report = (): void => {
  const sent: Report = { served, failed };
  served = 0;
  failed = [];
  process.send?.(sent);
};

let since = performance.now();
let due = 0;
process.once('message', () => {
  since = performance.now();
  setInterval(() => {
    due += ((performance.now() - since) / 1_000) * work.rate;
    since = performance.now();
    for (; due >= 1; due -= 1) if (underWay < work.most) void call();
  }, 10);
  setInterval(report, 100);
});
process.once('disconnect', () => process.exit());
process.send?.('ready');

function shiftClock(off: number): void {
  const RealDate = Date;
  const now = (): number => RealDate.now() + off;
  globalThis.Date = class extends RealDate {
    constructor(...args: [] | [number]) {
      super(...((args.length === 0 ? [now()] : args) as [number]));
    }
    static override now = now;
  } as DateConstructor;
}
