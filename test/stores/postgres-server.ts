import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../scripts/free-port.js';

/** Debian's programs are in a folder for each version. */
const DEBIAN = '/usr/lib/postgresql';
const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort() : [];
/** The folder of the programs of PostgreSQL, if it is installed. */
export const POSTGRES = versions.length > 0 ? join(DEBIAN, versions.at(-1) ?? '', 'bin') : undefined;

/** A server on a free local port, whose data is gone at the end. */
export interface PostgresServer {
  readonly port: number;
  readonly pool: pg.Pool;
  /** Ends it at once, as a machine does that fails, and starts it again. What was committed is recovered from its log. */
  restart(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Cuts about half of the connections. */
  cut(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server. It does not run as root. */
export async function startPostgres(programs: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  const user = process.getuid?.() === 0 ? { uid: statSync('/var/lib/postgresql').uid } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, -1);
  const data = join(folder, 'data');
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'app', '--auth=trust', '-E', 'UTF8'], {
    ...user,
    cwd: folder,
  });
  const port = await freePort();
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'app', database: 'postgres' });
  pool.on('error', () => {}); // an idle connection was cut
  // Without `fsync`, what is written survives the end of a process, and not that of the machine.
  const options = ['-D', data, '-p', String(port), '-k', folder, '-c', 'fsync=off'];
  const run = (): ChildProcess => spawn(join(programs, 'postgres'), options, { ...user, cwd: folder, stdio: 'ignore' });
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = run();
    for (let tries = 0; ; tries += 1) {
      const error = await pool.query('SELECT 1').then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error === undefined) return;
      if (tries > 500) throw error;
      await sleep(20);
      if (server.exitCode !== null) server = run(); // processes of the one that was killed still use its memory
    }
  };
  process.once('exit', () => server.kill('SIGKILL'));
  await start();
  return {
    port,
    pool,
    restart: async (signal) => {
      const ended = once(server, 'exit');
      server.kill(signal);
      await ended;
      await start();
    },
    cut: async () => {
      await pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < 0.5`);
    },
    stop: async () => {
      await pool.end();
      const ended = once(server, 'exit');
      server.kill('SIGTERM'); // waits for the connections, which `end` does not
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
