/** Read the rate limit, and handle a used-up limit. Run: npm run example handle-rate-limit */
import { GatewayClient, RateLimitError } from 'context-gateway';

await using gateway = new GatewayClient({
  maxRetryAfter: 2_000, // never wait longer than 2 s
  pacing: false, // fail at the limit; by default calls wait instead
});

const { response } = await gateway.presets.list().withResponse();
console.log(`${response.rateLimit?.remaining} of ${response.rateLimit?.limit} requests are left`);

try {
  for (let calls = 0; calls < 2_000; calls += 1) await gateway.presets.list();
} catch (error) {
  if (!(error instanceof RateLimitError)) throw error;
  console.log(
    `Used up. Try again in ${Math.ceil((error.retryAfter ?? 0) / 1000)} s, after ${error.rateLimit?.resetAt?.toISOString()}`,
  );
}
