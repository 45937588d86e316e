/** stripe, with the options it has by default; `rawRequest` is its documented way to paths it does not know. */
import Stripe from 'stripe';
import { messages } from './call.js';

export function create(origin) {
  const { hostname, port } = new URL(origin);
  const client = new Stripe('sk_test_bench', { host: hostname, port: Number(port), protocol: 'http' });
  return { plain: (model) => client.rawRequest('POST', '/v1/chat/completions', { model, messages }) };
}
