#!/usr/bin/env node
import packageJson from '../../package.json' with { type: 'json' };
import { serveMcp } from './mcp-server.js';
import { runCommand } from './run-command.js';

runCommand(process.argv.slice(2), {
  version: packageJson.version,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  serve: serveMcp,
}).then((code) => {
  process.exitCode = code;
});
