import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

/** A program that runs, what it has printed so far, and how it ends. */
export interface Started {
  child: ChildProcessWithoutNullStreams;
  out: string;
  err: string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts Node, with pipes to it, and only these variables. */
export function startNode(args: readonly string[], env: Record<string, string>): Started {
  const child = spawn(process.execPath, args, { env });
  const started: Started = {
    child,
    out: '',
    err: '',
    ended: new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal }))),
  };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    started.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    started.err += text;
  });
  return started;
}
