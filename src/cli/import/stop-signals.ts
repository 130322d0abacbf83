import { Abort } from '../../upstream/transport/signal.ts';
import type { Host } from '../commands/command.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Returns a signal that the first Ctrl-C aborts, or the end of the terminal session. The next one ends the process immediately: all results are
 * written by then.
 *
 * @param onStop called at the first one
 */
export function catchStopSignals(host: Host, onStop: () => void): Abort {
  const stopping = new Abort();
  const handle = () => {
    if (stopping.aborted) {
      host.exit(1);
    }
    onStop();
    stopping.abort();
  };
  for (const signal of SIGNALS) {
    host.on(signal, handle);
  }
  return stopping;
}
