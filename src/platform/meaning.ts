import { addCode, type Entry, entryOf, progressAt } from './codes.js';
import type { Progress } from './engine.js';
import { readEnvironment } from './environment.js';
import type { FailedRequest, Failure } from './failure.js';

type MeaningOf = NonNullable<FailedRequest['meaningOf']>;

/** Adds a hint to what an entry says. */
type Hint = (entry: Entry, failure: Failure, reached: Progress, origin: string) => string | undefined;

/** Node tries the addresses of a host one after the other. */
const GIVEN_UP = 'connecting was given up: no address of the host answered in time';

/** Of requests through `fetch`: a given one, or what the app has put in the place of Node's. */
export const meaningInFetch: MeaningOf = meaningWith((entry, failure, _, origin) => {
  if (!entry.unreachable) return undefined;
  return isElsewhere(failure, origin) ? 'this is not the address of baseURL, so check the proxy' : 'check baseURL';
});

/** Of requests through a dispatcher, which may be a proxy. */
export const meaningInDispatcher: MeaningOf = meaningWith((entry, failure, { phase }, origin) => {
  if (!entry.unreachable || phase !== 'connect') return undefined;
  if (isElsewhere(failure, origin)) return 'this is not the address of baseURL, so check the proxy of the dispatcher';
  return 'check baseURL, and the proxy if the dispatcher has one';
});

/** Of requests through connections of our own. `heard` has the origins that have sent valid HTTP. */
export function meaningInPool(heard: ReadonlySet<string>): MeaningOf {
  return meaningWith((entry, _, { phase }, origin) => {
    const reset = entry.likeTLS && phase === 'connect';
    const variable = entry.unreachable || reset ? unusedProxy(origin) : undefined;
    if (variable !== undefined)
      return `${variable} is set, but Node uses it only with NODE_USE_ENV_PROXY=1 (from Node 22.21 on); or pass dispatcher: new EnvHttpProxyAgent(), from undici`;
    if (entry.unreachable) return 'check baseURL';
    const mayBeTLS = entry.likeTLS && phase === 'headers' && origin.startsWith('http:') && !heard.has(origin);
    return mayBeTLS ? 'if the port expects TLS, use https:// in baseURL' : undefined;
  });
}

function meaningWith(hint: Hint): MeaningOf {
  return (given, progress, origin) => {
    const failure = { ...given, code: addCode(given) };
    const found = entryOf(failure);
    if (found === undefined) return { reached: progress, what: undefined, retryable: true, quotes: true };
    const entry = atThisPhase(found, failure, progress);
    const reached = progressAt(progress, entry);
    const more = hint(entry, failure, reached, origin);
    const what = more === undefined ? entry.what : `${entry.what}; ${more}`;
    return { reached, what, retryable: !entry.final, quotes: entry.quotes === true };
  };
}

/** A code means something else before the connection is open than after it. */
function atThisPhase(entry: Entry, { code, chain }: Failure, { phase }: Progress): Entry {
  if (code === 'ETIMEDOUT' && phase === 'connect') return { ...entry, what: GIVEN_UP, unreachable: true };
  // When the network goes down, open connections fail with the codes of connections that were never opened.
  const wasOpen = chain.some(({ syscall }) => /^(read|write)/.test(String(syscall)));
  const { unsent, unreachable, ...rest } = entry;
  return wasOpen ? rest : entry;
}

/** Whether the address that failed is another than that of `baseURL`: then it is that of a proxy. */
function isElsewhere({ chain }: Failure, origin: string): boolean {
  const { hostname, port, protocol } = new URL(origin);
  const own = Number(port || (protocol === 'https:' ? 443 : 80));
  return chain.some(
    (failed) =>
      (typeof failed.hostname === 'string' && failed.hostname !== hostname) ||
      (typeof failed.port === 'number' && failed.port !== own),
  );
}

/**
 * The variable that names a proxy for this origin. A network that lets nothing out but through its proxy looks like a service
 * that is down.
 */
function unusedProxy(origin: string): string | undefined {
  const { protocol, hostname } = new URL(origin);
  const isExempt = (entry: string): boolean =>
    entry === '*' || (entry !== '' && `.${hostname}`.endsWith(`.${entry.replace(/^\*?\.|:\d+$/g, '')}`));
  const exempt = `localhost,127.0.0.1,[::1],${readEnvironment('no_proxy') ?? readEnvironment('NO_PROXY') ?? ''}`;
  if (exempt.split(/[\s,]+/).some(isExempt)) return undefined;
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  return names.find((name) => readEnvironment(name) !== undefined);
}
