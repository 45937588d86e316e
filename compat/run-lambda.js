/** Invokes a handler as AWS Lambda does for an HTTP API: `run-lambda.js <folder> <query>`. */
import { join } from 'node:path';

const [, , folder, rawQueryString] = process.argv;
const { handler } = await import(join(folder, 'index.mjs'));
const { statusCode, body } = await handler({
  version: '2.0',
  rawPath: '/',
  rawQueryString,
  queryStringParameters: Object.fromEntries(new URLSearchParams(rawQueryString)),
  headers: { host: 'app.test' },
  requestContext: { http: { method: 'GET', path: '/' } },
});
if (statusCode !== 200) throw new Error(`${statusCode}: ${body}`);
console.log(body);
process.exit(0); // Lambda freezes the process, too
