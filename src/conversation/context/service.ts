import { type ContextClient, NotFoundError } from '../../index.js';
import type { Background } from '../background.js';
import type { CheckedOptions } from '../options.js';
import { Compactor } from './compactor.js';
import type { ContextSource } from './reader.js';
import type { Session } from './session.js';

/** Messages that are excluded at once. */
const EXCLUSIONS = 4;

/** The service's context of a conversation: its compactions, and what is excluded from it. */
export class ServiceContext {
  readonly client: ContextClient;
  readonly compactor: Compactor;
  #excluding: Promise<unknown> = Promise.resolve();

  constructor(
    source: ContextSource,
    options: CheckedOptions,
    private readonly session: Session,
    private readonly background: Background,
  ) {
    this.client = source.client;
    this.compactor = new Compactor(source, options, session, background, () => this.#excluding);
  }

  /** Makes compactions wait for an exclusion: what it removes is not lost. */
  excluding(exclusion: Promise<void>): Promise<void> {
    const { snapshot } = this.session.state;
    // So that the next turn reads the context, also one of another process.
    if (snapshot !== undefined) this.session.set({ snapshot: { ...snapshot, readAt: 0 } });
    this.#excluding = Promise.allSettled([this.#excluding, exclusion]);
    return exclusion;
  }

  /** Removes messages from the service's summaries, in the background. The service may not have them. */
  exclude(ids: readonly string[]): void {
    const { signal } = this.background;
    const left = ids.values();
    const exclude = async (): Promise<void> => {
      for (const id of left) {
        await this.client.exclude(this.session.id, id, { signal }).catch((error: unknown) => {
          if (!NotFoundError.is(error)) this.background.onError(error);
        });
      }
    };
    const all = Promise.all(Array.from({ length: EXCLUSIONS }, exclude));
    this.background.behind(this.excluding(all.then(() => {})));
  }
}
