import { type ChildProcess, fork } from 'node:child_process';
import { setImmediate as immediate } from 'node:timers/promises';
import type { CounterFile } from '../../telemetry/counter-file.ts';

/** Program that workers run. */
export interface WorkerProgram {
  path: string;
  args: readonly string[];
  env: NodeJS.Dict<string>;
  /** Folders for the files of counters, the first that is writable. */
  counterFolders: readonly string[];
}

/** End of a worker, as fields of the log. */
export interface Ending {
  workerPid?: number | undefined;
  code?: number | null;
  signal?: string | null;
  /** Problem that the worker reported before it ended, or that kept it from starting. */
  problem?: string | undefined;
}

/** Starts the process of a worker. */
export function startChild(
  { path, args, env }: WorkerProgram,
  variables: NodeJS.Dict<string>,
  file: CounterFile | undefined,
): ChildProcess {
  try {
    return fork(path, args, {
      env: { ...env, ...variables },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...(file === undefined ? [] : [file.fd])],
    });
  } catch (error) {
    file?.close();
    throw error;
  }
}

/** Waits until the process has ended and its last messages have arrived. */
export async function waitForEnd(child: ChildProcess): Promise<Ending> {
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  child.on('error', fail);
  const exited = new Promise<Ending>((resolve) =>
    child.once('exit', (code, signal) => resolve({ workerPid: child.pid, code, signal })),
  );
  if (child.pid === undefined) {
    return { problem: `A worker could not be started (${await failed}).` };
  }
  const ending = await exited;
  while (child.connected) {
    await immediate(); // There is no event `disconnect` if it didn't take a connection.
  }
  return ending;
}
