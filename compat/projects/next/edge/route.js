import { GatewayClient } from 'context-gateway';
import { streamedText } from '../question.js';

export const runtime = 'edge';

export async function GET() {
  return new Response(await streamedText(new GatewayClient()));
}
