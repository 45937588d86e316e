import { describe, expect, test } from 'vitest';
import { ASSUMED } from './conformance/assumed.js';
import { DOCUMENTED } from './conformance/documented.js';
import { type ServiceUnderTest, serviceAt } from './conformance/service.js';
import { PROJECT_TALK, testEmulator } from './support.js';

/**
 * Runs against the emulator or against a real service. For a real one, set CONFORMANCE_BASE_URL, _API_KEY,
 * _SESSION_TOKEN, _CONVERSATION_ID and _MESSAGE_ID, and optionally _PUBLISHABLE_KEY, _SESSION_HEADER and _MODEL.
 * The suite compacts that conversation and leaves one small file behind, and nothing else.
 */
const REAL = process.env.CONFORMANCE_BASE_URL;

function required(name: string): string {
  const value = process.env[`CONFORMANCE_${name}`];
  if (value === undefined || value === '') throw new Error(`CONFORMANCE_${name} is not set`);
  return value;
}

function service(): ServiceUnderTest {
  if (REAL !== undefined) {
    return serviceAt({
      baseURL: REAL.replace(/\/+$/, ''),
      fetch,
      apiKey: required('API_KEY'),
      publishableKey: process.env.CONFORMANCE_PUBLISHABLE_KEY,
      sessionToken: required('SESSION_TOKEN'),
      sessionHeader: process.env.CONFORMANCE_SESSION_HEADER ?? 'authorization',
      model: process.env.CONFORMANCE_MODEL ?? 'atlas-small',
      conversationId: required('CONVERSATION_ID'),
      messageId: required('MESSAGE_ID'),
    });
  }
  const emulator = testEmulator();
  emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK });
  return serviceAt({
    baseURL: 'http://emulator.test',
    fetch: emulator.fetch,
    apiKey: emulator.apiKeys.secret,
    publishableKey: emulator.apiKeys.publishable,
    sessionToken: emulator.sessionToken,
    sessionHeader: 'authorization',
    model: 'atlas-small',
    conversationId: 'talk',
    messageId: 'talk3',
  });
}

describe(`conformance of ${REAL ?? 'the emulator'}`, () => {
  test.each(DOCUMENTED)('$title', async ({ holds }) => {
    await holds(service());
  });

  test.each(ASSUMED)('$id $title', async ({ id, title, ours, observe }) => {
    const seen = await observe(service());

    // A real service may differ. We report the difference, since a switch may cover it, and do not fail.
    if (REAL === undefined) expect(seen).toEqual(ours);
    else if (seen !== ours)
      console.warn(`DIFFERENT ${id} ${title}: ${JSON.stringify(seen)}, assumed ${JSON.stringify(ours)}`);
  });
});
