import { RequestValidationError } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';

describe('memory helpers', () => {
  const world = emulatedService(
    {},
    {
      setup: ({ workspaces }) => {
        workspaces.create({ id: 'team' });
      },
    },
  );
  const stored = () => world.emulator.memory.all().map(({ item }) => item);
  const style = { type: 'preference', key: 'style' } as const;

  test('upsert creates an item, or updates it if it exists', async () => {
    const { memory } = world.context();

    const created = await memory.upsert({ ...style, content: 'Short.' });
    const changed = await memory.upsert({ ...style, content: 'Shorter.' });

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

  test('upsert reactivates an inactive item', async () => {
    const { memory } = world.context();
    const { id, content } = await memory.create({ ...style, content: 'Short.' });
    await memory.update(id, { content, isActive: false });

    await memory.upsert({ ...style, content: 'Long.' });

    expect(stored()).toMatchObject([{ content: 'Long.', isActive: true }]);
  });

  test('upsert returns its last response through withResponse()', async () => {
    const { data, response } = await world
      .context()
      .memory.upsert({ ...style, content: 'Short.' })
      .withResponse();

    expect(data.content).toBe('Short.');
    expect(response.status).toBe(200);
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
    const before = world.emulator.requests.length;

    expect(await failureOf(world.context().memory.upsert(given as never))).toBeInstanceOf(RequestValidationError);
    expect(world.emulator.requests.length).toBe(before);
  });

  test('update deactivates an item, and activates it again', async () => {
    const { memory } = world.context();
    const { id, content } = await memory.create({ ...style, content: 'Short.' });

    expect(await memory.update(id, { content, isActive: false })).toMatchObject({ content: 'Short.', isActive: false });
    expect(await memory.update(id, { content, isActive: true })).toMatchObject({ content: 'Short.', isActive: true });
  });
});
