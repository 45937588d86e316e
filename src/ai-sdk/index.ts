export { type ContextMiddleware, contextMiddleware } from './context-middleware.js';
export { type AiSdkProvider, type AiSdkProviderOptions, createAiSdkProvider } from './provider.js';
export type { AiSdkModel, Specification } from './specification.js';
