export { contextMiddleware } from './context-middleware.js';
export { createAiSdkProvider } from './provider.js';
export { searchTool } from './search-tool.js';
export { type TurnMetadata, turnToUIMessageStream } from './ui-message-stream.js';
