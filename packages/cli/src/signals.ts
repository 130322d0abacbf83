// Signals: those that stop a process, and those that npm doesn't pass on.

import { basename } from 'node:path';
import type { Process } from './command.ts';

/** Time after the first signal in which others are its copies, in milliseconds. npm passes on a Ctrl-C that the terminal sends to all processes. */
const COPIES_MS = 1_000;

/** Interval at which the shell of npm is looked for, in milliseconds. */
const SHELL_CHECK_MS = 250;

/** Catches the signals that stop a process: calls `stop` at the first one, and `quit` at the next ones. Under npm, copies of the first one don't count. */
export function catchStopSignals(
  host: Pick<Process, 'on' | 'env'>,
  { stop, quit, signals = ['SIGINT', 'SIGTERM'] }: { stop(): void; quit(): void; signals?: readonly NodeJS.Signals[] },
): void {
  let stoppedAt: number | undefined;
  const onSignal = () => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now();
      stop();
    } else if (host.env.npm_lifecycle_event === undefined || performance.now() - stoppedAt > COPIES_MS) {
      quit();
    }
  };
  for (const signal of signals) {
    host.on(signal, onSignal);
  }
}

/**
 * Sends this process SIGTERM when the shell ends in which npm runs it. npm passes signals on to that shell only, and the `sh` of Debian and Alpine
 * ends without passing them on. On Windows, nothing happens.
 */
export function endWithShellOfNpm(host: Pick<Process, 'argv' | 'env' | 'kill' | 'pid' | 'ppid' | 'send'>): void {
  const { ppid, argv, env } = host;
  const script = env.npm_lifecycle_script ?? '';
  const isInShell = host.send === undefined && script.includes(basename(argv[1] ?? ' ')); // Otherwise another program started it.
  const isInBackground = /(?<!&)&(?!&)/.test(script); // It is meant to outlive the shell.
  if (isInShell && !isInBackground) {
    const timer = setInterval(() => {
      if (host.ppid !== ppid) {
        clearInterval(timer);
        host.kill(host.pid, 'SIGTERM');
      }
    }, SHELL_CHECK_MS).unref();
  }
}
