import type { APIPromise } from '../api-promise.js';
import type { RequestOptions, SchemaOptions } from '../transport/options.js';
import type { Transport } from '../transport/transport.js';
import { RECORD, RECORDS } from './records.js';
import {
  type Preset,
  type PresetExecuteParams,
  type PresetListParams,
  type PresetResult,
  presetExecuteBodySchema,
  presetListQuerySchema,
} from './schemas.js';

/** A model may take this long over a preset (ms). */
const EXECUTION_TIMEOUT = 600_000;

/** `/v1/presets` */
export class Presets {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The same, with the array checked and typed by `schema`. */
  list<T>(params: PresetListParams | undefined, options: SchemaOptions<T>): APIPromise<T>;
  /**
   * The stored templates, of one `category` or all, at most `limit` (the service's default is 50). `GET /v1/presets`
   *
   * What a preset holds is not documented (A3): pass a `schema` to have the array checked and typed, `z.array(…)`. What
   * stands around the array is read with `request`.
   *
   * @throws {RequestValidationError} when `limit` is not a whole number from 1
   */
  list(params?: PresetListParams, options?: RequestOptions): APIPromise<Preset[]>;
  list(params?: PresetListParams, options?: RequestOptions): APIPromise<Preset[]> {
    return this.#transport.request(
      { method: 'GET', path: '/v1/presets', query: params, accepts: presetListQuerySchema },
      RECORDS,
      options,
    );
  }

  /** The same, with the raw response checked and typed by `schema`. */
  execute<T>(presetId: string, params: PresetExecuteParams, options: SchemaOptions<T>): APIPromise<T>;
  /**
   * Fill a template with `input` and have `model` answer it. `POST /v1/presets/:presetId/execute`
   *
   * The result's form is not documented (A3): pass a `schema` to have the raw response checked and typed by it.
   * May take 600 s unless `timeout` says otherwise. Costs tokens, so that a lost connection is not tried again.
   *
   * @throws {NotFoundError} when there is no such preset
   */
  execute(presetId: string, params: PresetExecuteParams, options?: RequestOptions): APIPromise<PresetResult>;
  execute(presetId: string, params: PresetExecuteParams, options?: RequestOptions): APIPromise<PresetResult> {
    return this.#transport.request(
      {
        method: 'POST',
        path: '/v1/presets/{presetId}/execute',
        ids: { presetId },
        body: params,
        model: Object(params).model,
        accepts: presetExecuteBodySchema,
        timeout: EXECUTION_TIMEOUT,
      },
      RECORD,
      options,
    );
  }
}
