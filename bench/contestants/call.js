/** The request that all contestants send. */
export const key = 'svc_sk_bench_0123456789';
export const messages = [
  { role: 'system', content: 'You answer in one paragraph.' },
  { role: 'user', content: 'Where does the Danube rise, and where does it end?' },
];

/** Its options for the contestants without an SDK. */
export function call(params) {
  return {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ messages, ...params }),
  };
}
