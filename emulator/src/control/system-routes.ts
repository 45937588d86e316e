import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { Refusal } from '../base/errors.js';
import type { FaultRule } from '../faults/rule.js';
import { bodyOf, type ControlledEmulator, type Plane } from './plane.js';
import { checkedState } from './state-schema.js';

/** State, faults, what arrived, and time. */
export function systemRoutes(app: Plane, emulator: ControlledEmulator): void {
  const { faults, clock } = emulator;

  app.get('/overview', (c) => c.json(emulator.overview(c.req.query('search'))));
  app.get('/state', (c) => c.json(emulator.state()));
  app.put('/state', async (c) => {
    emulator.restore(checkedState(await bodyOf(c)));
    return c.json({ ok: true });
  });
  app.post('/reset', (c) => {
    emulator.reset();
    return c.json({ ok: true });
  });
  app.post('/clock', async (c) => {
    emulator.advanceClock(checked(clockSchema, await bodyOf(c)).advance);
    return c.json({ time: new Date(clock.now()).toISOString() });
  });
  app.get('/requests', (c) => {
    const { after, limit } = checked(requestsQuery, c.req.query());
    return c.json(emulator.recentRequests(Number(limit ?? 1000), after));
  });

  app.get('/faults', (c) => c.json(faults.list()));
  // It checks what it is given.
  app.post('/faults', async (c) => c.json({ id: faults.add((await bodyOf(c)) as FaultRule) }, 201));
  app.delete('/faults', (c) => {
    faults.clear();
    return c.json({ ok: true });
  });
  app.delete('/faults/:id', (c) => {
    if (!faults.remove(c.req.param('id'))) throw new Refusal(404, 'there is no such fault');
    return c.json({ ok: true });
  });
}

const clockSchema = z.object({ advance: z.number().check(z.gte(0)) });
const requestsQuery = z.object({
  after: z.optional(z.string()),
  limit: z.optional(z.string().check(z.regex(/^[1-9]\d*$/))),
});
