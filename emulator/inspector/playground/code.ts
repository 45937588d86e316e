import type { ChatCompletionParams } from 'context-gateway';

/** The request as a curl command. The key comes from an environment variable. */
export function asCurl(origin: string, params: ChatCompletionParams): string {
  return [
    `curl ${params.stream === true ? '-N ' : ''}${origin}/v1/chat/completions`,
    '  -H "Authorization: Bearer $CONTEXT_GATEWAY_API_KEY"',
    "  -H 'Content-Type: application/json'",
    `  -d ${quoted(JSON.stringify(params))}`,
  ].join(' \\\n');
}

/** The request as a program with the SDK. */
export function asProgram(origin: string, params: ChatCompletionParams): string {
  const isStream = params.stream === true;
  const fields = JSON.stringify(params, null, 2).replace(/^( *)"(\w+)":/gm, '$1$2:');
  const [name, print] = isStream
    ? ['stream', 'for await (const text of stream.textStream) process.stdout.write(text);']
    : ['completion', 'console.log(completion.choices[0]?.message.content);'];
  return `import { GatewayClient } from 'context-gateway';

// The key is read from CONTEXT_GATEWAY_API_KEY.
const gateway = new GatewayClient({ baseURL: '${origin}' });
const ${name} = await gateway.chat.completions.create(${fields});
${print}
`;
}

/** Quotes a text for a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
