import { type DestinationStream, pino } from 'pino';
import type { Host } from './commands/command.ts';

/**
 * Creates the stream that the JSON lines of the log are written to. It passes on the lines of one turn of the event loop together, because pino's
 * own stream measures the whole text that waits for the output again with each line: with 64 lines per turn, 6.6 instead of 2.4 µs per line.
 */
export function createLogStream(host: Pick<Host, 'on'>): DestinationStream & { flushSync(): void } {
  let lines = '';

  function pass(): void {
    if (lines !== '') {
      const passed = lines;
      lines = '';
      output.write(passed);
    }
  }

  host.on('exit', pass); // Before the output's own listener, which writes what it has got.
  const output = pino.destination();
  return {
    write(line) {
      if (lines === '') {
        setImmediate(pass);
      }
      lines += line;
    },
    flushSync() {
      pass();
      output.flushSync();
    },
  };
}
