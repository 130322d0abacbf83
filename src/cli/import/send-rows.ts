import type { Abort } from '../../upstream/signal.ts';
import type { AppliedLines } from './applied-lines.ts';
import type { CheckedFile } from './check-rows.ts';
import { ImportError } from './import-error.ts';
import type { InputFile } from './input-file.ts';
import { readRows } from './read-rows.ts';
import type { RowResult } from './results.ts';
import type { Format, Row } from './row.ts';
import { type Sending, sendRow } from './send-row.ts';

/** Options of `sendRows`. */
export interface SendOptions {
  input: InputFile;
  format: Format;
  /** The file when it was checked. */
  checked: Pick<CheckedFile, 'rows' | 'digest'>;
  /** Rows that are not sent. */
  applied: AppliedLines;
  /** Rows that are sent at a time. */
  concurrency: number;
  sending: Omit<Sending, 'stopping' | 'inFlight' | 'record'>;
  /** Aborted to stop the import, also by a failure. */
  stopping: Abort;
  /** Called with each result. */
  onResult(result: RowResult): void;
}

/**
 * Sends the rows that are not applied, the first one without company: if it is rejected for a reason that concerns all, no other is sent.
 *
 * @throws {ImportError} if no row can succeed. Rows in flight are finished before
 */
export async function sendRows(options: SendOptions): Promise<void> {
  const { input, format, checked, applied, concurrency, stopping, onResult: record } = options;
  const text = input.read();
  const rows = readRows(text, format);
  let rowsRead = 0;
  let inFlight = 0;
  let failure: { error: unknown } | undefined;
  const sending: Sending = { ...options.sending, stopping, inFlight: () => inFlight, record };

  async function nextRow(): Promise<Row | undefined> {
    for (;;) {
      const { value: row, done } = await rows.next();
      if (done === true) {
        return undefined;
      }
      rowsRead += 1;
      if ('problem' in row || rowsRead > checked.rows) {
        throw changed();
      }
      if (!applied.has(row.line)) {
        return row;
      }
    }
  }

  /** Sends one row after the other. */
  async function work(maxRows: number): Promise<void> {
    try {
      for (let i = 0; i < maxRows && !stopping.aborted; i += 1) {
        const row = await nextRow();
        if (row === undefined) {
          return;
        }
        inFlight += 1;
        await sendRow(row, sending).finally(() => {
          inFlight -= 1;
        });
      }
    } catch (error) {
      failure ??= { error };
      stopping.abort();
    }
  }

  await work(1);
  await Promise.all(Array.from({ length: concurrency }, () => work(Number.POSITIVE_INFINITY)));
  if (failure !== undefined) {
    throw failure.error;
  }
  if (!stopping.aborted && text.digest() !== checked.digest) {
    throw changed();
  }
}

const changed = () =>
  new ImportError(
    'The file changed during the import. Rows of both versions may have been sent.',
    'Once the file is complete, run the command with --restart, which sends all rows.',
  );
