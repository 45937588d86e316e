import * as fs from 'node:fs';
import { hostname } from 'node:os';

/** A file that says which process uses another one. What a process left that was killed does not lock. */
export class FileLock {
  private constructor(private readonly file: string) {}

  /** Throws a RangeError if a living process of this machine has the lock. */
  static take(file: string): FileLock {
    if (!create(file)) {
      const [host, pid = '', start] = fs.readFileSync(file, 'utf8').split('\n');
      const isOwn = pid === String(process.pid) ? start === STARTED : isAlive(Number(pid));
      // In containers with one volume, each machine has a name of its own, and its processes the same numbers.
      if (host === hostname() && isOwn) throw new RangeError(`in use by another emulator: process ${pid} has ${file}`);
      fs.rmSync(file, { force: true });
      if (!create(file)) throw new RangeError('in use by another emulator');
    }
    return new FileLock(file);
  }

  release(): void {
    fs.rmSync(this.file, { force: true });
  }
}

/** Several threads of a process may have an emulator each. */
const STARTED = String(Math.round(performance.timeOrigin));

function create(file: string): boolean {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, 'wx', 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
  try {
    fs.writeFileSync(descriptor, [hostname(), process.pid, STARTED].join('\n'));
  } catch {
    // The disk is full. An empty lock counts as an old one, so that the next process can still open the data.
  } finally {
    fs.closeSync(descriptor);
  }
  return true;
}

/** A process of another user is alive, too, although it takes no signal. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
