/** This package with default options. */
import { GatewayClient } from 'context-gateway';
import { key } from './call.js';
import { openaiShaped } from './openai-shaped.js';

export const create = (origin) => openaiShaped(new GatewayClient({ baseURL: origin, apiKey: key }));
