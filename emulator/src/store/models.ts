import { type EmulatorModel, MODELS } from '../base/models.js';
import { type Collection, checkedId, type Storage } from './storage.js';

/** The available models: the built-in ones (A19), and those you add. */
export class Models {
  readonly #records: Collection<EmulatorModel>;

  constructor(storage: Storage) {
    this.#records = storage.collection('models');
  }

  /** Adds a model. */
  create({ id, contextWindow }: EmulatorModel): EmulatorModel {
    if (this.get(checkedId('model', id)) !== undefined) throw new RangeError(`model ${id} already exists`);
    if (!(Number.isInteger(contextWindow) && contextWindow > 0))
      throw new RangeError(`contextWindow must be a positive whole number, got ${contextWindow}`);
    this.#records.set(id, { id, contextWindow });
    return { id, contextWindow };
  }

  /** Removes a model that you added. Returns false if there is no such model. */
  delete(id: string): boolean {
    return this.#records.delete(id);
  }

  /** A model and its context window. */
  get(id: string): EmulatorModel | undefined {
    const model = MODELS.find((builtIn) => builtIn.id === id) ?? this.#records.get(id);
    return model && { ...model };
  }

  /** The built-in models, and those you added. */
  list(): EmulatorModel[] {
    return [...MODELS, ...this.#records.values()].map((model) => ({ ...model }));
  }
}
