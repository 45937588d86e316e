import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { APIConnectionError } from '../../src/index.js';
import { AT_LENGTH, isTried } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { seededRandom } from '../helpers/manual-runtime.js';
import type { Turn } from '../wire/fault-server.js';
import { failureOf, PROMPT } from '../wire/world.js';
import { type Fault, succeed } from './backend.js';
import { proxies, serveBehindProxies } from './world.js';

/** Idle connections are closed after this many ms. Calls are spaced about as far apart. */
const IDLE = 20;
/** Rounds of three calls each. */
const ROUNDS = AT_LENGTH ? 200 : 15;

const closings: readonly { closedBy: string; act: Fault['act'] }[] = [
  { closedBy: 'the proxy', act: succeed },
  { closedBy: 'the proxy or the service', act: succeedAndClose },
];
const rows = engines.filter(isTried).flatMap((engine) => closings.map((closing) => ({ ...engine, ...closing })));

const world = serveBehindProxies(IDLE);

describe.concurrent.each(proxies)('$proxy', ({ proxy, missing }) => {
  const within = { timeout: ROUNDS * 1_000, skip: missing };

  // In sequence, so that a retry finds no other connection that was idle for too long.
  test.sequential.each(rows)(
    '$engine: one POST has one effect on connections that $closedBy closes on reuse',
    within,
    async (row) => {
      const { gateway, context } = world.clients(proxy, 'plain', { ...row.options, maxRetries: 5 });
      const random = seededRandom(1);
      // On a busy machine even a new connection can be closed as idle before its first byte, six times in a row.
      let closedEachTime = 0;
      const unlessClosed = (error: unknown) => {
        expect(error).toBeInstanceOf(APIConnectionError);
        closedEachTime += 1;
      };
      const operation = () =>
        world.backend.operation(...Array.from({ length: 6 }, () => ({ works: true, act: row.act })));

      for (let round = 0; round < ROUNDS; round += 1) {
        const [get, patch, post] = [operation(), operation(), operation()];
        await sleep(random() * 2 * IDLE);
        await gateway.presets.list({ category: get.id }).catch(unlessClosed);
        await sleep(random() * 2 * IDLE);
        await context.memory.update(patch.id, { content: PROMPT }).catch(unlessClosed);
        await sleep(random() * 2 * IDLE);
        const execution = gateway.integrations.execute('chat', { action: 'post_message', channel: post.id });
        const error = await execution.then(
          () => undefined,
          (failure) => failureOf(Promise.reject(failure)),
        );

        expect(post.account.arrivals.length).toBeLessThanOrEqual(1);
        if (error === undefined) expect(post.account.effects).toBe(1);
        if (post.account.effects > 0) expect(error).not.toMatchObject({ sent: 'no' });
      }
      expect(closedEachTime).toBeLessThan(ROUNDS / 4);
    },
  );
});

function succeedAndClose(turn: Turn): void {
  succeed(turn);
  setTimeout(() => turn.socket.end(), IDLE);
}
