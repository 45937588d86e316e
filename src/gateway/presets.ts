import type { APIPromise } from '../base/api-promise.js';
import type { RequestOptions, SchemaOptions } from '../transport/arguments/options.js';
import type { Transport } from '../transport/call/transport.js';
import { RECORD, RECORDS } from './records.js';
import {
  type Preset,
  type PresetExecuteParams,
  type PresetListParams,
  type PresetResult,
  presetExecuteBodySchema,
  presetListQuerySchema,
} from './schemas.js';

/** The default timeout for executing a preset (ms). */
const EXECUTION_TIMEOUT = 600_000;

/** `/v1/presets` */
export class Presets {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List the presets, and validate and type the array with `schema`. */
  list<T>(params: PresetListParams | undefined, options: SchemaOptions<T>): APIPromise<T>;
  /**
   * List the presets, of one `category` or all, at most `limit` (the service's default is 50). `GET /v1/presets`
   *
   * The fields of a preset are not documented: pass a `schema`, such as `z.array(…)`, to validate and type the array.
   * To read the object around the array, use `request`.
   *
   * @throws {RequestValidationError} when `limit` is not a positive whole number
   */
  list(params?: PresetListParams, options?: RequestOptions): APIPromise<Preset[]>;
  list(params?: PresetListParams, options?: RequestOptions): APIPromise<Preset[]> {
    return this.#transport.request(
      { method: 'GET', path: '/v1/presets', query: params, accepts: presetListQuerySchema },
      RECORDS,
      options,
    );
  }

  /** Execute a preset, and validate and type the raw response with `schema`. */
  execute<T>(presetId: string, params: PresetExecuteParams, options: SchemaOptions<T>): APIPromise<T>;
  /**
   * Fill a template with `input` and send it to `model`. `POST /v1/presets/:presetId/execute`
   *
   * The response is not documented: pass a `schema` to validate and type it. The default `timeout` is 600 s. A lost
   * connection is not retried, because the completion may be done and billed.
   *
   * @throws {NotFoundError} when the preset does not exist
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
