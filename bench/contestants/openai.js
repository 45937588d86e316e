/** openai with default options. */
import OpenAI from 'openai';
import { key } from './call.js';
import { openaiShaped } from './openai-shaped.js';

export const create = (origin) => openaiShaped(new OpenAI({ baseURL: `${origin}/v1`, apiKey: key }));
