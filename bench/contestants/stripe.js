/** stripe with default options. `rawRequest` is its documented way to call other paths. */
import Stripe from 'stripe';
import { messages } from './call.js';

export function create(origin) {
  const { hostname, port } = new URL(origin);
  const client = new Stripe('sk_test_bench', { host: hostname, port: Number(port), protocol: 'http' });
  return { plain: (model) => client.rawRequest('POST', '/v1/chat/completions', { model, messages }) };
}
