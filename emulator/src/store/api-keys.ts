import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { exact, id, label, namedObject, readTime } from '../base/fields.js';
import type { IdSource } from './random.js';
import type { Collection, Storage } from './storage.js';

/** The kind of an API key. A publishable key may call only the `publishableEndpoints`. */
export type ApiKeyKind = (typeof API_KEY_KINDS)[number];
/** All kinds of API keys. */
export const API_KEY_KINDS = ['secret', 'publishable'] as const;

/** An API key without its secret part. */
export interface ApiKeyInfo {
  id: string;
  kind: ApiKeyKind;
  name: string;
  /** The first characters, to tell keys apart. */
  prefix: string;
  createdAt: string;
  /** ISO 8601, or null if the key does not expire. */
  expiresAt: string | null;
}

export const keyInfo = exact<ApiKeyInfo>()(
  namedObject('ApiKey', {
    id,
    kind: z.enum(API_KEY_KINDS),
    name: label,
    prefix: label,
    createdAt: readTime,
    expiresAt: z.nullable(readTime),
  }),
);

/** A stored key. Only its hash is stored, so that no file and no response contains the key. */
export interface ApiKeyRecord extends ApiKeyInfo {
  hash: string;
}

export const keyRecord = exact<ApiKeyRecord>()(z.object({ ...keyInfo.shape, hash: id }));

/** The account's API keys: the two initial ones, and those you create. */
export class ApiKeys {
  readonly #records: Collection<ApiKeyRecord>;
  readonly #ids: IdSource;
  readonly #now: () => number;

  constructor(storage: Storage, ids: IdSource, now: () => number) {
    this.#records = storage.collection('api-keys');
    this.#ids = ids;
    this.#now = now;
  }

  /** The initial secret key. It may call every endpoint. */
  get secret(): string {
    return keyText('secret', this.#ids.firstToken('key/secret', KEY_LENGTH));
  }

  /** The initial publishable key. It may call the `publishableEndpoints`. */
  get publishable(): string {
    return keyText('publishable', this.#ids.firstToken('key/publishable', KEY_LENGTH));
  }

  /** Creates a key and returns it in full. It cannot be retrieved later. */
  create(
    kind: ApiKeyKind,
    { name = kind, expiresAt }: { name?: string | undefined; expiresAt?: Date | string | number | undefined } = {},
  ): string {
    const expiry = expiresAt === undefined ? null : new Date(expiresAt);
    if (expiry !== null && Number.isNaN(expiry.getTime())) throw new RangeError(`not a time: ${expiresAt}`);
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

  /** Deletes a key, given by its id or in full. It is invalid at once. Returns false if there is no such key. */
  delete(keyOrId: string): boolean {
    for (const record of this.#records.values()) {
      if (record.id === keyOrId) return this.#records.delete(record.hash);
    }
    return this.#records.delete(hashKey(keyOrId));
  }

  /** All keys, oldest first, without their secret parts. */
  list(): ApiKeyInfo[] {
    return [...this.#records.values()].map(({ hash: _, ...info }) => info);
  }

  /** Information on a key that is given in full. */
  get(key: string): ApiKeyInfo | undefined {
    const record = this.#records.get(hashKey(key));
    if (record === undefined) return undefined;
    const { hash: _, ...info } = record;
    return info;
  }

  /** @internal */
  isExpired({ expiresAt }: ApiKeyInfo): boolean {
    return expiresAt !== null && Date.parse(expiresAt) <= this.#now();
  }

  /** @internal Creates the two initial keys. */
  addFirst(): void {
    this.create('secret', { name: 'first secret key' });
    this.create('publishable', { name: 'first publishable key' });
  }
}

/** @internal The stored form of a key or token. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'base64url');
}

/** The word "local" prevents confusion with a key of the real service. */
function keyText(kind: ApiKeyKind, token: string): string {
  return `${kind === 'secret' ? 'svc_sk_' : 'svc_pk_'}local_${token}`;
}

const KEY_LENGTH = 24;
const PREFIX_LENGTH = 'svc_sk_local_'.length + 4;
