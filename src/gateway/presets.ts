import * as z from 'zod/mini';
import type { APIPromise } from '../base/api-promise.js';
import { Resource } from '../call/resource.js';
import { DEFAULTS } from '../request/client-options.js';
import type { SchemaOptions } from '../request/request-options.js';
import { exact, integer, requiredText } from '../validation/fields.js';
import { type OpenRecord, record, records } from './records.js';

/** A template for completions. Its fields are not documented. */
export interface Preset extends OpenRecord {}
/** The result of a preset. Not documented: an object or an array (check with `Array.isArray`). */
export interface PresetResult extends OpenRecord {}

/** Arguments of `presets.list`. */
export type PresetListParams = {
  /** Presets of this category only. */
  category?: string | undefined;
  /** The maximum number of presets. @default 50, set by the service */
  limit?: number | undefined;
};

/** Arguments of `presets.execute`. */
export interface PresetExecuteParams {
  /** The text to fill the template with. */
  input: string;
  model: string;
}

const listQuerySchema = exact<PresetListParams>()(
  z.strictObject({ category: z.optional(requiredText), limit: z.optional(integer.check(z.minimum(1))) }),
);
const executeBodySchema = exact<PresetExecuteParams>()(z.strictObject({ input: z.string(), model: requiredText }));

/** `/v1/presets` */
export class Presets extends Resource {
  /**
   * List the presets, of one `category` or all, at most `limit` (the service's default is 50). `GET /v1/presets`
   *
   * The fields of a preset are not documented: pass a `schema`, such as `z.array(preset)`, to validate and type the
   * array. To read the object around the array, use `request`.
   *
   * @throws {RequestValidationError} when `limit` is not a positive whole number
   * @example
   * ```ts
   * for (const { id } of await gateway.presets.list({ limit: 2 })) console.log(id);
   * ```
   */
  list<T = Preset[]>(params?: PresetListParams, options?: SchemaOptions<T>): APIPromise<T> {
    return this.transport.request(
      { method: 'GET', path: '/v1/presets', query: params, accepts: listQuerySchema },
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
    const accepts = executeBodySchema;
    return this.transport.request(
      { method: 'POST', path, ids: { presetId }, body: params, accepts, timeout: DEFAULTS.workTimeout },
      record<T>(),
      options,
    );
  }
}
