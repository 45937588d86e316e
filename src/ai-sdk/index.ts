export { type ContextMiddleware, contextMiddleware } from './context-middleware.js';
export { type AiSdkProvider, type AiSdkProviderOptions, createAiSdkProvider } from './provider.js';
export { type SearchTool, type SearchToolOptions, searchTool } from './search-tool.js';
export type { AiSdkModel, Specification } from './specification.js';
export {
  type TurnMetadata,
  turnToUIMessageStream,
  type UIMessageChunk,
  type UIMessageStreamOptions,
} from './ui-message-stream.js';
