import * as z from 'zod/mini';
import { exact, id } from '../base/fields.js';
import { hashKey } from './api-keys.js';
import type { IdSource } from './random.js';
import { type Collection, checkedId, type Storage } from './storage.js';

/** A signed-in user. */
export interface Session {
  token: string;
  userId: string;
}

/** A stored session, with only a hash of its token. */
export interface SessionRecord {
  hash: string;
  userId: string;
}

export const sessionRecord = exact<SessionRecord>()(z.object({ hash: id, userId: id }));

/** The sessions of users. */
export class Sessions {
  readonly #records: Collection<SessionRecord>;
  readonly #ids: IdSource;

  constructor(storage: Storage, ids: IdSource) {
    this.#records = storage.collection('sessions');
    this.#ids = ids;
  }

  /** The initial session. */
  get first(): Session {
    return {
      token: tokenText(this.#ids.firstToken('session', 24)),
      userId: `user_${this.#ids.firstToken('user', 16)}`,
    };
  }

  /** Signs a user in: a new user, unless you pass an id. */
  create(options: { userId?: string | undefined } = {}): Session {
    const userId = checkedId('user', options.userId ?? this.#ids.next('user'));
    const token = tokenText(this.#ids.token('session', 24));
    const hash = hashKey(token);
    this.#records.set(hash, { hash, userId });
    return { token, userId };
  }

  /** All users who have a session. */
  users(): string[] {
    return [...new Set([...this.#records.values()].map(({ userId }) => userId))];
  }

  /** Ends a session: its token is no longer valid. Returns false if there is no such session. */
  expire(token: string): boolean {
    return this.#records.delete(hashKey(token));
  }

  /** @internal */
  user(token: string): string | undefined {
    return this.#records.get(hashKey(token))?.userId;
  }
}

function tokenText(token: string): string {
  return `session_local_${token}`;
}
