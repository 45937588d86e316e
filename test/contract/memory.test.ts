import { RequestValidationError } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';

describe('memory helpers', () => {
  const world = emulatedService({}, { setup: ({ workspaces }) => void workspaces.create({ id: 'team' }) });
  const stored = () => world.emulator.memory.all().map(({ item }) => item);
  const style = { type: 'preference', key: 'style' } as const;

  test('upsert creates an item, or updates and activates it if it exists', async () => {
    const { memory } = world.context();

    const { data: created, response } = await memory.upsert({ ...style, content: 'Short.' }).withResponse();
    await memory.update(created.id, { content: 'Short.', isActive: false });
    const changed = await memory.upsert({ ...style, content: 'Shorter.' });

    expect(response.status).toBe(200);
    expect(changed.id).toBe(created.id);
    expect(stored()).toEqual([{ ...style, id: created.id, content: 'Shorter.', isActive: true }]);
    expect(world.last).toMatchObject({ method: 'PATCH', path: `/api/memory/${created.id}` });
  });

  test('upsert keeps types and workspaces apart', async () => {
    const { memory } = world.context();

    await memory.upsert({ ...style, content: 'Mine.' });
    await memory.upsert({ type: 'fact', key: 'style', content: 'A fact.' });
    await memory.upsert({ ...style, content: 'Ours.', workspaceId: 'team' });
    await memory.upsert({ ...style, content: 'Ours again.', workspaceId: 'team' });

    expect(stored().map(({ content }) => content)).toEqual(['Mine.', 'A fact.', 'Ours again.']);
  });

  test('later changes of the options do not affect the second request of an upsert', async () => {
    const options = { headers: { 'x-tag': 'one' } };
    const call = world.context().memory.upsert({ ...style, content: 'Short.' }, options);

    options.headers = { 'x-tag': 'two' };
    await call;

    expect(world.last).toMatchObject({ method: 'POST', headers: { 'x-tag': 'one' } });
  });

  test.each([
    { given: { type: 'mood', key: 'k', content: 'c' }, because: 'there is no such type' },
    { given: { type: 'fact', key: 'k' }, because: 'content is missing' },
    { given: { type: 'fact', key: 'k', content: 'c', timeout: 5 }, because: 'an option is among the parameters' },
    { given: undefined, because: 'there are no parameters' },
  ])('upsert sends nothing if $because', async ({ given }) => {
    expect(await failureOf(world.context().memory.upsert(given as never))).toBeInstanceOf(RequestValidationError);
    expect(world.emulator.requests).toHaveLength(0);
  });
});
