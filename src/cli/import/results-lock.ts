import { lutimesSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { errorCodeOf } from '../../lib/error-code.ts';
import type { Process } from '../command.ts';
import { ConfigError } from '../config/problem.ts';
import { parseJson } from './json-rows.ts';
import { attempt } from './results-file.ts';

/** Interval in which the owner renews the lock, in milliseconds. */
const RENEWAL_MS = 2_000;

/** Age of a lock whose owner was killed, in milliseconds: on another machine or in another container, it can't be asked. */
const STALE_MS = 15_000;

const OWNER = z.object({ pid: z.int().positive(), host: z.string() });

/**
 * Reserves a results file for this process until it is disposed: two imports would overwrite each other's results. The lock of a process that was
 * killed is taken over.
 *
 * @throws {ConfigError} if another import uses the file
 * @throws {ImportError} if the lock can't be written
 */
export function lockResults(path: string, host: Pick<Process, 'pid' | 'kill'>): Disposable {
  const lock = `${path}.lock`;
  const owner = JSON.stringify({ pid: host.pid, host: hostname() });
  if (!attempt(path, () => create(lock, owner) || takeOver(lock, owner, host))) {
    throw new ConfigError([
      `Another import with the results file ${path} is running. Wait until it ends, or name another file with --results.`,
    ]);
  }
  const renewal = setInterval(() => renew(lock), RENEWAL_MS).unref();
  return {
    [Symbol.dispose]() {
      clearInterval(renewal);
      attempt(path, () => rmSync(lock, { force: true }));
    },
  };
}

/** Returns whether the file was created. */
function create(lock: string, owner: string): boolean {
  try {
    writeFileSync(lock, owner, { flag: 'wx' }); // Readable by all, because imports of other users have to find out whether it is held.
    return true;
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

/** Replaces a lock whose owner was killed. Returns whether that was done: if several imports find such a lock, only one of them replaces it. */
function takeOver(lock: string, owner: string, host: Pick<Process, 'pid' | 'kill'>): boolean {
  if (isHeld(lock, host)) {
    return false;
  }
  const claim = `${lock}.new`;
  if (!create(claim, owner)) {
    if (isHeld(claim, host)) {
      return false;
    }
    rmSync(claim, { force: true }); // Its owner was killed in this function.
    if (!create(claim, owner)) {
      return false;
    }
  }
  // Only the owner of the claim replaces the lock, but another one may have done so before.
  if (isHeld(lock, host)) {
    rmSync(claim, { force: true });
    return false;
  }
  renameSync(claim, lock);
  return true;
}

function isHeld(lock: string, host: Pick<Process, 'pid' | 'kill'>): boolean {
  try {
    if (Date.now() - statSync(lock).mtimeMs > STALE_MS) {
      return false;
    }
    const { data: owner } = OWNER.safeParse(parseJson(readFileSync(lock, 'utf8')));
    return owner === undefined || owner.host !== hostname() || (owner.pid !== host.pid && isRunning(owner.pid, host));
  } catch {
    return false; // Its owner has just ended.
  }
}

function isRunning(pid: number, host: Pick<Process, 'kill'>): boolean {
  try {
    return host.kill(pid, 0);
  } catch (error) {
    return errorCodeOf(error) === 'EPERM'; // It runs as another user.
  }
}

function renew(lock: string): void {
  try {
    lutimesSync(lock, new Date(), new Date());
  } catch {
    // Deleted by a person. The import can still finish.
  }
}
