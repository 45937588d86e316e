import type { Emulator } from '../emulator.js';

export const HELP = `context-gateway-emulator: the whole context and gateway service on this machine

Where it listens and what it keeps
  --port NUMBER        where to listen; 0 takes a free port (4010)
  --host ADDRESS       which address to listen on (127.0.0.1)
  --data DIR           keep everything in one file in this directory (in memory)
  --seed TEXT          the same keys and ids on every start (random)
  --seed-file FILE     first data from a JSON file, instead of the sample conversation

How the service behaves
  --plan NAME          starter (no Gateway access), agency, enterprise (agency)
  --limits LIST        requests a minute: gateway=1000,context=300,compact=20
  --latency MS         wait before every answer (0)
  --pace NUMBER[:MS]   tokens a second in streams, and the wait for the first one
  --strict             refuse body fields that are not documented
  --cors ORIGINS       pages that may call: origins divided by commas, *, none (*; with --seed those of this machine)
  --assume NAME=VALUE  where your service differs; may be repeated:
                         session-header=X-Session      (A8; Authorization:Token with a scheme)
                         publishable=GET /v1/presets   (A9; endpoints, divided by commas)
                         rate-limit-reset=delta-seconds (A13; epoch-seconds, epoch-milliseconds)
                         list-form=bare                (A3; data, named, items)

Who answers completions (without these: a deterministic answer from the request itself)
  --upstream URL       a server of the OpenAI form, up to /v1
  --upstream-key KEY   its key; the keys of callers are never sent on
  --model-map A=B      what a model is called there; may be repeated, or a,b divided by commas
  --record DIR         keep its answers, without keys
  --replay DIR         answer from there and open no connection
  --summarizer NAME    extractive, or upstream: a model writes summaries (extractive)

  --help, --version

The inspector is a page at /_emulator of the address it prints.
Faults for one request: the header x-emulator-fault, as in 503, 429=7, reset, delay=500, cut=3.
`;

/** What the command says once it listens. */
export function greeting(url: string, emulator: Emulator, { hasSample }: { hasSample: boolean }): string {
  const { apiKeys, sessionToken } = emulator;
  const { secret, publishable } = apiKeys;
  const note = (key: string): string => (apiKeys.get(key) === undefined ? '  (deleted)' : '');
  const conversation = hasSample ? 'conv_sample' : (emulator.conversations.list()[0]?.id ?? 'ID');
  return `Listening on ${url}
Inspector    ${url}/_emulator

  secret key       ${secret}${note(secret)}
  publishable key  ${publishable}${note(publishable)}
  session token    ${sessionToken}

For your program:

  export CONTEXT_GATEWAY_BASE_URL=${url}
  export CONTEXT_GATEWAY_API_KEY=${secret}
  export CONTEXT_GATEWAY_SESSION_TOKEN=${sessionToken}

Try it:

  curl -N ${url}/v1/chat/completions \\
    -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' \\
    -d '{"model":"atlas-small","stream":true,"messages":[{"role":"system","content":"We decided to keep invoices in PostgreSQL."},{"role":"user","content":"Where do we keep invoices?"}]}'

  curl '${url}/api/context?conversationId=${conversation}' -H 'Authorization: Bearer ${sessionToken}'
  curl ${url}/api/context/compact -H 'Authorization: Bearer ${sessionToken}' -H 'Content-Type: application/json' \\
    -d '{"conversationId":"${conversation}","level":"deep"}'

Ctrl+C stops it.
`;
}
