import { type ContextClient, NotFoundError } from '../../index.js';
import type { Background } from '../background.js';
import type { CheckedOptions } from '../options.js';
import { Compactor } from './compactor.js';
import { ContextReader } from './reader.js';
import type { Session } from './session.js';

/** Messages that are excluded at once. */
const EXCLUSIONS = 4;

/** The service's context of a conversation: its reader and its compactor. Excludes messages that were replaced. */
export class ServiceContext {
  readonly reader: ContextReader;
  readonly compactor: Compactor;
  #excluding: Promise<unknown> | undefined;

  constructor(
    readonly client: ContextClient,
    options: CheckedOptions,
    private readonly session: Session,
    private readonly background: Background,
  ) {
    this.reader = new ContextReader(client, options, session, background, (...read) =>
      this.compactor.recordLoss(...read),
    );
    this.compactor = new Compactor(client, this.reader, options, session, background, () => this.#excluding);
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
    this.reader.invalidate();
    const all = Promise.all([this.#excluding, ...Array.from({ length: EXCLUSIONS }, exclude)]);
    this.#excluding = this.background.behind(all.then(() => this.reader.invalidate()));
  }
}
