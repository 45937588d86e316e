import { isRequestBound } from '../../base/runtime.js';
import type { ChatTurn } from '../model.js';
import type { ConversationStore } from '../store.js';
import type { Reply } from './reply.js';

/** The conversations of each store that have turns, by their ids. */
const ORDERS = new WeakMap<ConversationStore, Map<string, TurnOrder>>();

/** How a question ended: its turn, if its reply is whole. */
type Asked = ChatTurn | undefined;

/** A turn that waits for those before it, or runs. */
export interface Entered {
  /** Resolves when the turns before it have ended. */
  before: Promise<unknown>;
  /** The same question, if it is being asked: resolves to its turn, or to `undefined` if that failed or was stopped. */
  same: Promise<Asked> | undefined;
  /** Ends the turn, so that the next one begins. */
  end: (turn?: ChatTurn) => void;
}

/**
 * The order of the turns of one conversation in this process, also of several objects over one store. Between processes, and
 * in workerd, where a request cannot wait for another one, conflicts in the store keep it.
 */
export class TurnOrder {
  #last: Promise<unknown> = Promise.resolve();
  #lastReply: Reply | undefined;
  /** The turns that have not ended, by what they ask. */
  readonly #asked = new Map<string, Promise<Asked>>();
  #running = 0;

  /** The last reply is read to its end, so that one that was abandoned does not delay this turn. */
  static enter(store: ConversationStore, conversationId: string, asks?: string, reply?: Reply): Entered {
    if (isRequestBound()) return { before: Promise.resolve(), same: undefined, end: () => {} };
    const orders = ORDERS.get(store) ?? new Map<string, TurnOrder>();
    ORDERS.set(store, orders);
    const order = orders.get(conversationId) ?? new TurnOrder();
    orders.set(conversationId, order);
    return order.#enter(asks, reply, () => {
      orders.delete(conversationId);
      if (orders.size === 0) ORDERS.delete(store); // sooner than the garbage collector would
    });
  }

  #enter(asks: string | undefined, reply: Reply | undefined, forget: () => void): Entered {
    const { promise: turn, resolve } = withResolver<Asked>();
    const before = this.#last;
    const same = asks === undefined ? undefined : this.#asked.get(asks);
    this.#running += 1;
    this.#last = Promise.all([before, turn]).then(() => {});
    void this.#lastReply?.readOn();
    this.#lastReply = reply;
    if (asks !== undefined) {
      this.#asked.set(asks, turn);
      void turn.then(() => {
        if (this.#asked.get(asks) === turn) this.#asked.delete(asks);
      });
    }
    const end = (ended?: ChatTurn): void => {
      resolve(ended?.stopped === false ? ended : same); // this one may have ended while it waited for the same question
      this.#running -= 1;
      if (this.#running === 0) forget();
    };
    return { before, same, end };
  }
}

function withResolver<T>(): { promise: Promise<T>; resolve: (value: T | PromiseLike<T>) => void } {
  let resolve: (value: T | PromiseLike<T>) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
