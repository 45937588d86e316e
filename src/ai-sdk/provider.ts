import { NoSuchModelError } from '@ai-sdk/provider';
import { ConfigurationError, type GatewayClient } from '../index.js';
import { option, optionsCheck } from '../validation/options.js';
import { DIALECTS } from './dialect.js';
import { createModel } from './model.js';
import type { AiSdkModel, Specification } from './specification.js';

/** A provider of the Gateway's models for the AI SDK. Call it with a model id. */
type AiSdkProvider<Version extends Specification> = {
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
};

const check = /* @__PURE__ */ optionsCheck({
  specification: /* @__PURE__ */ option(
    (value) => Object.hasOwn(DIALECTS, String(value)),
    "must be 'v2' (for ai 5), 'v3' (for ai 6 and 7) or 'v4' (for ai 7)",
  ),
});

/**
 * A provider for the AI SDK: `streamText({ model: createAiSdkProvider(gateway)('atlas-small'), … })`.
 *
 * Tools, JSON formats, images and sampling parameters are sent, although the API does not document them: the service may
 * ignore or reject them.
 *
 * The client retries: its `maxRetries` applies, and that of the AI SDK has no effect.
 *
 * @throws {ConfigurationError} when `gateway` is not a client, or an option is invalid
 *
 * @example
 * ```ts
 * const svc = createAiSdkProvider(new GatewayClient());
 * const { text } = await generateText({ model: svc('atlas-small'), prompt: 'Name three rivers.' });
 * ```
 */
export function createAiSdkProvider<Version extends Specification = 'v3'>(
  gateway: GatewayClient,
  options: {
    /** The version of the provider interface: `'v2'` for `ai` 5, `'v3'` for 6 and 7, `'v4'` for 7 alone. @default 'v3' */
    specification?: Version | undefined;
  } = {},
): AiSdkProvider<Version> {
  if (typeof gateway?.chat?.completions?.create !== 'function')
    throw new ConfigurationError('createAiSdkProvider takes a client: createAiSdkProvider(new GatewayClient({ … })).');
  check(options);
  // The cast is true: without the option, the type parameter is its default.
  const specification = options.specification ?? ('v3' as Version);
  const languageModel = (modelId: string) => createModel(gateway, modelId, specification);
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: specification,
    languageModel,
    embeddingModel: (modelId: string) => noSuchModel(modelId, 'embeddingModel'),
    textEmbeddingModel: (modelId: string) => noSuchModel(modelId, 'embeddingModel'),
    imageModel: (modelId: string) => noSuchModel(modelId, 'imageModel'),
  });
}

function noSuchModel(modelId: string, modelType: 'embeddingModel' | 'imageModel'): never {
  const message = `The Gateway has only language models, no ${modelType}.`;
  throw new NoSuchModelError({ modelId, modelType, message });
}
