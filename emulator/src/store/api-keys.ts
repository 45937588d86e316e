import { hash } from 'node:crypto';
import type { IdSource } from './random.js';
import type { Collection, Storage } from './storage.js';

/** What a key may do. */
export type ApiKeyKind = (typeof API_KEY_KINDS)[number];
/** Every one there is. */
export const API_KEY_KINDS = ['secret', 'publishable'] as const;

/** A key as it is listed: never in full. */
export interface ApiKeyInfo {
  id: string;
  kind: ApiKeyKind;
  name: string;
  /** The first characters, to tell keys apart. */
  prefix: string;
  createdAt: string;
  /** ISO 8601; null when it does not expire. */
  expiresAt: string | null;
}

/** A key as it is kept: by its hash, so that no file and no answer holds it. */
export interface ApiKeyRecord extends ApiKeyInfo {
  hash: string;
}

/** The account's API keys: those every emulator has, and further ones for rotation. */
export class ApiKeys {
  readonly #records: Collection<ApiKeyRecord>;
  readonly #ids: IdSource;
  readonly #now: () => number;

  constructor(storage: Storage, ids: IdSource, now: () => number) {
    this.#records = storage.collection('api-keys');
    this.#ids = ids;
    this.#now = now;
  }

  /** The first secret key: everything. */
  get secret(): string {
    return keyText('secret', this.#ids.firstToken('key/secret', KEY_LENGTH));
  }

  /** The first publishable key: what `publishableEndpoints` names. */
  get publishable(): string {
    return keyText('publishable', this.#ids.firstToken('key/publishable', KEY_LENGTH));
  }

  /** One more key. It is given in full here and never again. */
  create(
    kind: ApiKeyKind,
    { name = kind, expiresAt }: { name?: string | undefined; expiresAt?: Date | string | number | undefined } = {},
  ): string {
    const expiry = expiresAt === undefined ? null : new Date(expiresAt);
    if (expiry !== null && Number.isNaN(expiry.getTime())) throw new RangeError(`not a point in time: ${expiresAt}`);
    const key = keyText(kind, this.#ids.token(`key/${kind}`, KEY_LENGTH));
    const record: ApiKeyRecord = {
      id: this.#ids.next('key'),
      kind,
      name,
      prefix: key.slice(0, PREFIX_LENGTH),
      createdAt: new Date(this.#now()).toISOString(),
      expiresAt: expiry?.toISOString() ?? null,
      hash: hashKey(key),
    };
    this.#records.set(record.hash, record);
    return key;
  }

  /** Invalidate a key at once, by its id or in full; tells whether there was such a key. */
  delete(keyOrId: string): boolean {
    for (const record of this.#records.values()) {
      if (record.id === keyOrId) return this.#records.delete(record.hash);
    }
    return this.#records.delete(hashKey(keyOrId));
  }

  /** The keys by their prefixes, in the order they were made. */
  list(): ApiKeyInfo[] {
    return [...this.#records.values()].map(({ hash: _, ...info }) => info);
  }

  /** The listed form of a key that is known in full. */
  get(key: string): ApiKeyInfo | undefined {
    const record = this.#records.get(hashKey(key));
    if (record === undefined) return undefined;
    const { hash: _, ...info } = record;
    return info;
  }

  /** @internal */
  check(key: string): ApiKeyKind | 'expired' | 'unknown' {
    const record = this.#records.get(hashKey(key));
    if (record === undefined) return 'unknown';
    return record.expiresAt !== null && Date.parse(record.expiresAt) <= this.#now() ? 'expired' : record.kind;
  }

  /** @internal The two keys every emulator starts with. */
  addFirst(): void {
    this.create('secret', { name: 'first secret key' });
    this.create('publishable', { name: 'first publishable key' });
  }
}

/** @internal The stored form of a key or token. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'base64url');
}

/** "local" marks it: never to be taken for a key of the real service. */
function keyText(kind: ApiKeyKind, token: string): string {
  return `${kind === 'secret' ? 'svc_sk_' : 'svc_pk_'}local_${token}`;
}

const KEY_LENGTH = 24;
const PREFIX_LENGTH = 'svc_sk_local_'.length + 4;
