/** ky with default options. */
import ky from 'ky';
import { key, messages } from './call.js';

export function create(origin) {
  const client = ky.create({ prefix: origin, headers: { authorization: `Bearer ${key}` } });
  return { plain: (model) => client.post('v1/chat/completions', { json: { model, messages } }).json() };
}
