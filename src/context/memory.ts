import { type APIPromise, apiPromise } from '../base/api-promise.js';
import type { WithResponse } from '../base/response-info.js';
import { Resource } from '../call/resource.js';
import type { Transport } from '../call/transport.js';
import { checkArguments } from '../request/request.js';
import type { RequestOptions } from '../request/request-options.js';
import type { ResponseSpec } from '../response/service-response.js';
import {
  type MemoryCreateParams,
  type MemoryListParams,
  type MemoryUpdateParams,
  memoryCreateBodySchema,
  memoryListQuerySchema,
  memoryUpdateBodySchema,
} from './params.js';
import { memoriesResponseSchema, memoryResponseSchema, SUCCESS_ONLY, type UserMemoryItem } from './schemas.js';

const ITEM: ResponseSpec<{ memory: UserMemoryItem }, UserMemoryItem> = {
  schema: memoryResponseSchema,
  unwrap: ({ memory }) => memory,
};

/** `/api/memory` */
export class Memory extends Resource {
  /**
   * List memory items: your own, or those of a workspace; of one `type` or all. `GET /api/memory`
   *
   * @throws {PermissionDeniedError} when the user is not a member of the workspace
   * @example
   * ```ts
   * await context.memory.create({ type: 'preference', key: 'dates', content: 'Dates look like 2026-01-31.' });
   * for (const { key, content } of await context.memory.list({ type: 'preference' })) console.log(key, content);
   * ```
   */
  list(params?: MemoryListParams, options?: RequestOptions): APIPromise<UserMemoryItem[]> {
    return this.transport.request(
      { method: 'GET', path: '/api/memory', query: params, accepts: memoryListQuerySchema },
      { schema: memoriesResponseSchema, unwrap: ({ memories }) => memories },
      options,
    );
  }

  /**
   * Create a memory item. `POST /api/memory`
   *
   * @throws {PermissionDeniedError} when the user is not a member of the workspace
   * @example
   * ```ts
   * const item = await context.memory.create({ type: 'preference', key: 'dates', content: 'Dates look like 2026-01-31.' });
   * console.log(item.content);
   * ```
   */
  create(params: MemoryCreateParams, options?: RequestOptions): APIPromise<UserMemoryItem> {
    return this.transport.request(
      { method: 'POST', path: '/api/memory', body: params, accepts: memoryCreateBodySchema },
      ITEM,
      options,
    );
  }

  /**
   * Change an item, or deactivate it with `isActive: false`. `PATCH /api/memory/{memoryId}`
   *
   * @throws {NotFoundError} when the item does not exist
   * @example
   * ```ts
   * const { id } = await context.memory.create({ type: 'preference', key: 'dates', content: 'Dates look like 2026-01-31.' });
   * const item = await context.memory.update(id, { content: 'Dates look like 31 January 2026.' });
   * console.log(item.content);
   * ```
   */
  update(memoryId: string, params: MemoryUpdateParams, options?: RequestOptions): APIPromise<UserMemoryItem> {
    return this.transport.request(
      {
        method: 'PATCH',
        path: '/api/memory/{memoryId}',
        ids: { memoryId },
        body: params,
        accepts: memoryUpdateBodySchema,
      },
      ITEM,
      options,
    );
  }

  /**
   * Create an item, or change and activate the item that has this type and key.
   * `GET /api/memory`, then `PATCH /api/memory/{memoryId}` or `POST /api/memory`
   *
   * The two requests are not atomic: two upserts of a new key at the same time can create two items. If several items
   * have the key, the first one listed is changed. `withResponse()` returns the response to the second request.
   *
   * @throws {PermissionDeniedError} when the user is not a member of the workspace
   *
   * @example
   * ```ts
   * await context.memory.upsert({ type: 'preference', key: 'dates', content: 'Dates look like 2026-01-31.' });
   * await context.memory.upsert({ type: 'preference', key: 'dates', content: 'Dates look like 31 January 2026.' });
   * for (const { key, content } of await context.memory.list()) console.log(key, content);
   * ```
   */
  upsert(params: MemoryCreateParams, options?: RequestOptions): APIPromise<UserMemoryItem> {
    return apiPromise(this.#upsert(params, options));
  }

  async #upsert(params: MemoryCreateParams, options?: RequestOptions): Promise<WithResponse<UserMemoryItem>> {
    // Checked once, before the first request.
    const given = checkArguments(memoryCreateBodySchema, params);
    const { type, key, content, workspaceId } = given;
    const scope = workspaceId === undefined ? {} : { workspaceId };
    const optionsOfWrite = optionsAfter(options, this.transport.timing);
    const known = (await this.list({ ...scope, type }, options)).find((item) => item.type === type && item.key === key);
    const write =
      known === undefined
        ? this.transport.request({ method: 'POST', path: '/api/memory', body: given }, ITEM, optionsOfWrite())
        : this.update(known.id, { content, isActive: true }, optionsOfWrite());
    return write.withResponse();
  }

  /**
   * Delete an item. `DELETE /api/memory/{memoryId}`
   *
   * @throws {NotFoundError} when the item does not exist
   * @example
   * ```ts
   * const { id } = await context.memory.create({ type: 'preference', key: 'dates', content: 'Dates look like 2026-01-31.' });
   * await context.memory.delete(id);
   * console.log((await context.memory.list()).length);
   * ```
   */
  delete(memoryId: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request(
      { method: 'DELETE', path: '/api/memory/{memoryId}', ids: { memoryId } },
      SUCCESS_ONLY,
      options,
    );
  }
}

/** The options of the second of two requests: with what is left then of the deadline of both. */
function optionsAfter(options: RequestOptions | undefined, timing: Transport['timing']): () => RequestOptions {
  const given = { ...options };
  const deadline = given.deadline ?? timing.deadline;
  if (deadline === undefined) return () => given;
  const endsAt = timing.runtime.now() + deadline;
  // Too little time ends the second request with the error of a deadline.
  return () => ({ ...given, deadline: Math.max(1, endsAt - timing.runtime.now()) });
}
