import { closeSync, openSync } from 'node:fs';
import type { Host } from '../commands/command.ts';
import type { Hangups } from '../hangups.ts';
import { type ConfigReloader, createConfigReloader, type ReloaderOptions } from './config-reloader.ts';
import type { ConfigWatch } from './watch-config.ts';

/** Options of `followConfig`. */
export interface FollowOptions extends ReloaderOptions {
  watch: ConfigWatch;
  hangups: Hangups;
  host: Host;
}

/**
 * Reloads the configuration at SIGHUP, and when its file changes. A terminal that closes sends SIGHUP too: then the process stops, because
 * its user could no longer see or stop it.
 *
 * @returns stops doing so when it is disposed
 */
export function followConfig({ watch, hangups, host, ...options }: FollowOptions): Disposable {
  let { reloadSeconds } = options.startup;
  const reloader: ConfigReloader = createConfigReloader({
    ...options,
    load() {
      watch.note();
      return options.load();
    },
    async apply(config) {
      await options.apply(config);
      reloadSeconds = config.reloadSeconds;
    },
  });
  const looks = watch.start({ everySeconds: () => reloadSeconds, onChange: () => void reloader.reload('file') });
  const handling = hangups.handle(() => {
    if (isTerminalGone(host)) {
      host.emit('SIGTERM', 'SIGTERM');
    } else {
      void reloader.reload('SIGHUP');
    }
  });
  return {
    [Symbol.dispose]() {
      looks[Symbol.dispose]();
      handling[Symbol.dispose]();
    },
  };
}

/** Whether the process was started on a terminal that it no longer has. */
function isTerminalGone({ stdin, stdout }: Host): boolean {
  if (!stdin.isTTY && !stdout.isTTY) {
    return false;
  }
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}
