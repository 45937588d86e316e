/** Node's own `fetch`, without validation. */
import { call } from './call.js';

export function create(origin) {
  return {
    async plain(model) {
      const response = await fetch(`${origin}/v1/chat/completions`, call({ model }));
      return response.json();
    },
  };
}
