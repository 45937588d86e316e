import { type EmulatorModel, MODELS } from '../base/models.js';
import { type Collection, type Storage, usableId } from './storage.js';

/** The models offered: those that are there from the start (A19), and your own. */
export class Models {
  readonly #records: Collection<EmulatorModel>;

  constructor(storage: Storage) {
    this.#records = storage.collection('models');
  }

  /** Offer one more model. */
  create({ id, contextWindow }: EmulatorModel): EmulatorModel {
    if (this.get(usableId('model', id)) !== undefined) throw new RangeError(`model ${id} exists already`);
    if (!(Number.isInteger(contextWindow) && contextWindow > 0))
      throw new RangeError(`contextWindow must be a positive whole number, got ${contextWindow}`);
    this.#records.set(id, { id, contextWindow });
    return { id, contextWindow };
  }

  /** Take a model of your own back. */
  delete(id: string): boolean {
    return this.#records.delete(id);
  }

  get(id: string): EmulatorModel | undefined {
    const model = MODELS.find((offered) => offered.id === id) ?? this.#records.get(id);
    return model && { ...model };
  }

  list(): EmulatorModel[] {
    return [...MODELS, ...this.#records.values()].map((model) => ({ ...model }));
  }
}
