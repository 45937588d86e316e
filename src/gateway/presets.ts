import type { APIPromise } from '../base/api-promise.js';
import { DEFAULTS } from '../transport/arguments/client-options.js';
import type { SchemaOptions } from '../transport/arguments/request-options.js';
import { Resource } from '../transport/resource.js';
import { record, records } from './records.js';
import {
  type Preset,
  type PresetExecuteParams,
  type PresetListParams,
  type PresetResult,
  presetExecuteBodySchema,
  presetListQuerySchema,
} from './schemas.js';

/** `/v1/presets` */
export class Presets extends Resource {
  /**
   * List the presets, of one `category` or all, at most `limit` (the service's default is 50). `GET /v1/presets`
   *
   * The fields of a preset are not documented: pass a `schema`, such as `z.array(…)`, to validate and type the array.
   * To read the object around the array, use `request`.
   *
   * @throws {RequestValidationError} when `limit` is not a positive whole number
   * @example
   * ```ts
   * for (const { id } of await gateway.presets.list({ limit: 2 })) console.log(id);
   * ```
   */
  list<T = Preset[]>(params?: PresetListParams, options?: SchemaOptions<T>): APIPromise<T> {
    return this.transport.request(
      { method: 'GET', path: '/v1/presets', query: params, accepts: presetListQuerySchema },
      records<T>(),
      options,
    );
  }

  /**
   * Fill a template with `input` and send it to `model`. `POST /v1/presets/:presetId/execute`
   *
   * The response is not documented: pass a `schema` to validate and type it. The default `timeout` is 600 s. A lost
   * connection is not retried, because the completion may be done and billed.
   *
   * @throws {NotFoundError} when the preset does not exist
   *
   * @example
   * ```ts
   * const input = 'We release on Tuesdays because support is fully staffed then.';
   * const { output } = await gateway.presets.execute('summarize', { input, model: 'atlas-small' });
   * console.log(output);
   * ```
   */
  execute<T = PresetResult>(presetId: string, params: PresetExecuteParams, options?: SchemaOptions<T>): APIPromise<T> {
    const path = '/v1/presets/{presetId}/execute';
    const accepts = presetExecuteBodySchema;
    return this.transport.request(
      { method: 'POST', path, ids: { presetId }, body: params, accepts, timeout: DEFAULTS.workTimeout },
      record<T>(),
      options,
    );
  }
}
