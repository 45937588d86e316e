#!/usr/bin/env node
import packageJson from '../../package.json' with { type: 'json' };
import { runCommand } from './run-command.js';

// A reader such as `head` may leave early. Otherwise, such as on a full disk, the output is lost.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.stderr.write(`context-gateway: ${message}\n`);
  process.exit(code === 'EPIPE' ? 0 : 1);
});

runCommand(process.argv.slice(2), {
  version: packageJson.version,
  input: process.stdin,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  // Only when it is needed: reading the MCP SDK takes as long as starting any other command.
  serve: async (tools, version) => (await import('./mcp-server.js')).serveMcp(tools, version),
}).then((code) => {
  process.exitCode = code;
});
