import { NoSuchModelError } from '@ai-sdk/provider';
import { ConfigurationError, type GatewayClient, type GatewayClientOptions } from '../index.js';
import { DIALECTS } from './dialect.js';
import { createModel } from './model.js';
import type { AiSdkModel, Specification } from './specification.js';

/** Options of `createAiSdkProvider`. */
export interface AiSdkProviderOptions<Version extends Specification = Specification> {
  /** The version of the provider interface: `'v2'` for `ai` 5, `'v3'` for 6 and 7, `'v4'` for 7 alone. @default 'v3' */
  specification?: Version | undefined;
  /** Reads streams whose events have another form. @default the option of the client */
  decodeChunk?: GatewayClientOptions['decodeChunk'];
}

/** A provider of the Gateway's models for the AI SDK. Call it with a model id. */
export interface AiSdkProvider<Version extends Specification = 'v3'> {
  (modelId: string): AiSdkModel<Version>;
  readonly specificationVersion: Version;
  /** The same as calling the provider. */
  languageModel(modelId: string): AiSdkModel<Version>;
  /** The Gateway has no such models. @throws {NoSuchModelError} always */
  embeddingModel(modelId: string): never;
  /** The Gateway has no such models. @throws {NoSuchModelError} always */
  textEmbeddingModel(modelId: string): never;
  /** The Gateway has no such models. @throws {NoSuchModelError} always */
  imageModel(modelId: string): never;
}

/**
 * A provider for the AI SDK: `streamText({ model: createAiSdkProvider(gateway)('atlas-small'), … })`.
 *
 * Tools, JSON formats, images and sampling parameters are sent, although the API does not document them: the service may
 * ignore or reject them.
 *
 * The client retries: its `maxRetries` applies, and that of the AI SDK has no effect.
 *
 * @throws {ConfigurationError} when `gateway` is not a client, or the specification is unknown
 *
 * @example
 * ```ts
 * const svc = createAiSdkProvider(new GatewayClient());
 * const { text } = await generateText({ model: svc('atlas-small'), prompt: 'Name three rivers.' });
 * ```
 */
export function createAiSdkProvider<Version extends Specification = 'v3'>(
  gateway: GatewayClient,
  options: AiSdkProviderOptions<Version> = {},
): AiSdkProvider<Version> {
  if (typeof gateway?.chat?.completions?.create !== 'function')
    throw new ConfigurationError('createAiSdkProvider takes a client: createAiSdkProvider(new GatewayClient({ … })).');
  // The cast is true: without the option, the type parameter is its default.
  const specification = options.specification ?? ('v3' as Version);
  if (!Object.hasOwn(DIALECTS, specification))
    throw new ConfigurationError("specification must be 'v2' (for ai 5), 'v3' (for ai 6 and 7) or 'v4' (for ai 7).");

  const { decodeChunk } = options;
  // The client checks the option.
  const client = decodeChunk === undefined ? gateway : gateway.withOptions({ decodeChunk });
  const languageModel = (modelId: string) => createModel(client, modelId, specification);
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: specification,
    languageModel,
    embeddingModel: (modelId: string) => noSuchModel(modelId, 'embeddingModel'),
    textEmbeddingModel: (modelId: string) => noSuchModel(modelId, 'embeddingModel'),
    imageModel: (modelId: string) => noSuchModel(modelId, 'imageModel'),
  });
}

function noSuchModel(modelId: string, modelType: 'embeddingModel' | 'imageModel'): never {
  throw new NoSuchModelError({
    modelId,
    modelType,
    message: `The Gateway has only language models, no ${modelType}.`,
  });
}
