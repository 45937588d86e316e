/** The built emulator, with very high rate limits. */
import { createEmulator } from '../../dist/index.js';

const [data] = process.argv.slice(2);
const limits = { gateway: 1e9, context: 1e9, compact: 1e9 };
const emulator = createEmulator({ limits, ...(data === undefined ? {} : { data }) });
const { port } = await emulator.listen();
process.send?.({ port, key: emulator.apiKeys.secret, token: emulator.sessionToken });
process.on('message', (message) => {
  if (message === 'usage') process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() });
});
process.on('disconnect', () => emulator.close().then(() => process.exit()));
