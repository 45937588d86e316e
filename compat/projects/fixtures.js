/** A test with the emulator's fixtures. */
import { test } from 'context-gateway-emulator/vitest';
import { expect } from 'vitest';

test('a call is answered and recorded', async ({ gateway, emulator }) => {
  const messages = [{ role: 'user', content: 'The key is red. What is red?' }];
  const { choices } = await gateway.chat.completions.create({ model: 'atlas-small', messages });
  expect(choices[0].message.content).toContain('red');
  expect(emulator).toHaveReceived({ path: '/v1/chat/completions', status: 200 });
});
