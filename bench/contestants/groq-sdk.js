/** groq-sdk with default options. */
import Groq from 'groq-sdk';
import { key } from './call.js';
import { openaiShaped } from './openai-shaped.js';

export const create = (origin) => openaiShaped(new Groq({ baseURL: origin, apiKey: key }));
