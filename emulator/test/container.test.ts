import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPTIONS } from '../src/cli/options.js';
import { createEmulator } from '../src/index.js';

// `node scripts/container.js` builds and runs the container. This file tests what needs no docker.
const FILE = new URL('../Dockerfile', import.meta.url);
const dockerfile = readFileSync(FILE, 'utf8');
/** The arguments of each instruction of this kind. */
const of = (keyword: string) =>
  Array.from(dockerfile.matchAll(new RegExp(`^${keyword} (.*)$`, 'gm')), ([, text = '']) => text);

const compose = parse(readFileSync(new URL('../compose.example.yaml', import.meta.url), 'utf8'));
const options = OPTIONS.map(({ variable }) => variable);

describe('the Dockerfile', () => {
  test('pins the version of its base, runs without root, and has a health check', () => {
    for (const from of of('FROM')) expect(from).toMatch(/^node:\d+-slim( AS \w+)?$/);
    expect(of('USER')).toEqual(['node']);
    expect(of('HEALTHCHECK')).toHaveLength(1);
    expect(of('ENTRYPOINT')).toEqual(['["context-gateway-emulator"]']);
  });

  test('copies only existing files', () => {
    const own = of('COPY').filter((copy) => !copy.includes('--from'));
    const sources = own.flatMap((copy) => copy.split(' ').slice(0, -1));

    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) expect(existsSync(new URL(`../../${source}`, import.meta.url)), source).toBe(true);
  });
});

test('the container files set only variables that exist', () => {
  const set = of('ENV').map((env) => env.split('=')[0] ?? '');
  const named = [...set, ...Object.keys(compose.services.emulator.environment)].filter((name) => name !== 'PATH');

  expect(named).toContain('CONTEXT_GATEWAY_EMULATOR_HOST');
  for (const name of named) expect(options).toContain(name);
});

describe('the compose example', () => {
  test('builds the Dockerfile, publishes on loopback only, and stores data where the container may write', () => {
    const { build, ports, volumes } = compose.services.emulator;

    expect(existsSync(new URL(`../${build.context}/${build.dockerfile}`, import.meta.url))).toBe(true);
    expect(ports.every((port: string) => port.startsWith('127.0.0.1:'))).toBe(true);
    expect(volumes).toEqual(['data:/home/node/data']);
    expect(dockerfile).toMatch(/WORKDIR \/home\/node\n.*mkdir data\n/s);
  });

  test('contains a program that calls the control plane with its token', async () => {
    await using emulator = createEmulator({ controlToken: 'token-of-the-test' });
    const { url } = await emulator.listen();
    const [command = '', ...args] = compose.services.app.command;
    expect(command).toBe('node');

    const out = await new Promise((settle) => {
      const env = { EMULATOR: url, CONTROL_TOKEN: 'token-of-the-test' };
      execFile(process.execPath, args, { env }, (error, stdout) => settle(error ?? stdout));
    });

    expect(out).toBe('the plan is agency\n');
  });
});
