'use server';

import { GatewayClient } from 'context-gateway';
import { params } from './question.js';

/** A server action: its key stays on the server. */
export async function ask() {
  const { choices } = await new GatewayClient().chat.completions.create(params);
  return choices[0].message.content;
}
