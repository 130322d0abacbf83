import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { createJsonLogger } from '../../telemetry/json-logger.ts';
import { isUpstreamError } from '../../upstream/errors.ts';
import { Abort } from '../../upstream/signal.ts';
import { serviceAddressOf } from '../../upstream/transport/path.ts';
import type { CommandLine, Process } from '../command.ts';
import { type Environment, readEnvironment } from '../config/environment.ts';
import { loadConfig } from '../config/load-config.ts';
import { ConfigError } from '../config/problem.ts';
import { formatLogLine } from '../readable-log.ts';
import { findService } from '../service/find-service.ts';
import { readAuthorization } from '../service/read-key.ts';
import { catchStopSignals } from '../signals.ts';
import { AppliedLines } from './applied-lines.ts';
import { type CheckedFile, checkRows } from './check-rows.ts';
import { describeDryRun } from './dry-run.ts';
import { type EarlierRun, readEarlierRun } from './earlier-run.ts';
import { formatCount, formatRows } from './format.ts';
import { ImportError } from './import-error.ts';
import { type InputFile, openInput } from './input-file.ts';
import { type ImportOptions, readOptions } from './options.ts';
import { Pace } from './pace.ts';
import { assertSameEnvironment, findRunToResume, isUnfinished } from './plan-run.ts';
import { ProblemList } from './problem-list.ts';
import { createDescription, showProgress } from './progress.ts';
import type { Run } from './results.ts';
import { openResults } from './results-file.ts';
import { lockResults } from './results-lock.ts';
import { sendRows } from './send-rows.ts';
import { type ImportService, openService, readEnvironmentId } from './service.ts';
import { ServiceHealth } from './service-health.ts';
import { SessionSummary } from './session-summary.ts';

/** Variable with the key. A command line would show it to every user of the machine. */
const KEY_VARIABLE = 'NOTIGRAPH_IMPORT_KEY';

/** Pauses of the import, as a multiple of those of the client: it begins when the client's retries have failed. */
const PAUSES_PER_DELAY = 5;

/** Checks a file of subscribers, and sends its rows. The exit code is 1 if rows are left, and 2 if the file or the configuration is invalid. */
export async function runImport(commandLine: CommandLine, host: Process): Promise<void> {
  const options = readOptions(commandLine);
  const environment = readEnvironment(host.env);
  const service = options.isDryRun
    ? undefined
    : findService(loadConfig(commandLine, environment).config, {
        name: commandLine.options.name,
        purpose: 'to send subscribers to',
      });
  await using input = await openInput(options.path);
  using _lock = service && lockResults(options.results, host);
  const earlier = await readEarlierRun(options.results);
  const checked = await check(input, options, earlier, host);
  if (checked === undefined) {
    host.exitCode = 2;
    return;
  }
  if (service === undefined) {
    host.stdout.write(describeDryRun(checked));
    return;
  }
  const resumed = findRunToResume(earlier, checked, serviceAddressOf(service.url), options);
  const authorization = await readKey(commandLine, environment, host);
  await send({ input, options, checked, resumed, host, authorization, ...service });
}

/** Checks all rows. Prints the problems, and then returns undefined. */
async function check(
  input: InputFile,
  { path, format, results }: ImportOptions,
  earlier: EarlierRun | undefined,
  host: Process,
): Promise<CheckedFile | undefined> {
  // A run that can be resumed must not be lost.
  using problems = new ProblemList(earlier !== undefined && isUnfinished(earlier) ? undefined : results);
  let rows = 0;
  let bytes = 0;
  using progress = showProgress(host, () => {
    const percent = Math.floor((bytes / Math.max(1, input.bytes)) * 100);
    return `Checking ${path}: ${percent} %, ${formatRows(rows)}`;
  });
  const checked = await checkRows(input, format, {
    onProblem: (problem) => problems.add(problem),
    onRow(text) {
      rows += 1;
      bytes = text.bytesRead;
    },
  });
  progress[Symbol.dispose]();
  if (checked.problems > 0) {
    host.stderr.write(problems.describe(path));
    return undefined;
  }
  host.stdout.write(`${path}: ${formatRows(checked.rows)}, all valid.\n`);
  return checked;
}

async function readKey({ options }: CommandLine, { values }: Environment, host: Process): Promise<string> {
  const sources = {
    file: options['key-file'],
    variable: values[KEY_VARIABLE],
    question: 'API key of the service (not shown): ',
  };
  const authorization = await readAuthorization(sources, host);
  if (authorization === undefined) {
    throw new ConfigError([`There is no API key. Set ${KEY_VARIABLE}, or use --key-file.`]);
  }
  return authorization;
}

/** Import of a checked file into a service. */
interface Job extends ReturnType<typeof findService> {
  input: InputFile;
  options: ImportOptions;
  checked: CheckedFile;
  resumed: EarlierRun | undefined;
  authorization: string;
  host: Process;
}

async function send(job: Job): Promise<void> {
  const { input, options, checked, resumed, host, url, settings, authorization } = job;
  const { format, results: path, rate, maxWaitMs } = options;
  let note = (text: string): void => void host.stderr.write(`${text}\n`);
  const logFormat = { hasPid: false, stream: host.stderr };
  const logger = createJsonLogger('warn', { write: (line) => note(formatLogLine(line, logFormat).trimEnd()) });
  await using service = openService({ url, settings, authorization, signal: new Abort(), logger });
  const run = await beginRun(job, service);
  if (resumed !== undefined && !isUnfinished(resumed)) {
    host.stdout.write(`All rows are already applied: see ${path}. To send them again, use --restart.\n`);
    return;
  }
  const applied = resumed?.applied ?? new AppliedLines();
  const summary = new SessionSummary(checked.rows, applied.size);
  using results = openResults(path, resumed?.bytes ?? 0);
  if (resumed === undefined) {
    results.write(run);
  } else {
    const rows = `${formatCount(applied.size)} of ${formatRows(checked.rows)}`;
    host.stdout.write(`Resuming: ${rows} are already applied.\n`);
  }
  const hint = settings.isProduction ? '' : ' Press Ctrl-C again to quit now.';
  const stopping = new Abort();
  catchStopSignals(host, {
    stop() {
      note(`Stopping: finishing rows in flight.${hint}`);
      stopping.abort();
    },
    quit: () => host.exit(1), // All results are written by then.
    signals: ['SIGINT', 'SIGTERM', 'SIGHUP'], // The last one is the end of the terminal session.
  });
  using progress = showProgress(host, createDescription(summary));
  note = progress.note;
  using health = new ServiceHealth(maxWaitMs, progress.note);
  let failure: ImportError | undefined;
  try {
    await sendRows({
      input,
      format,
      checked,
      applied,
      concurrency: settings.maxConcurrentCallsPerKey,
      sending: {
        run: run.run,
        service,
        pace: new Pace({ rate, maxWaitMs }, stopping),
        health,
        hasApplied: () => summary.applied > 0,
        firstPauseMs: settings.retryBaseDelayMs * PAUSES_PER_DELAY,
      },
      stopping,
      onResult(result) {
        results.write(result);
        summary.add(result);
      },
    });
  } catch (error) {
    if (!(error instanceof ImportError)) {
      throw error;
    }
    failure = error;
  }
  progress[Symbol.dispose]();
  host.stderr.write(summary.describeFailures(options));
  if (failure !== undefined) {
    host.stderr.write(`${failure.message}\n`);
  }
  host.stdout.write(summary.describe(results.isEmpty ? undefined : path, failure?.remedy));
  host.exitCode = failure === undefined && summary.applied === summary.total ? 0 : 1;
}

/**
 * Returns the resumed run, or a new one, after a read that shows whether the service accepts the key.
 *
 * @throws {ImportError} if it is unreachable, or doesn't
 */
async function beginRun({ checked, resumed, options }: Job, service: ImportService): Promise<Run> {
  const run = resumed?.run.run ?? randomUUID();
  let environmentId: string | undefined;
  try {
    environmentId = await readEnvironmentId(service, `import-${run}`);
  } catch (error) {
    if (!isUpstreamError(error)) {
      throw error;
    }
    // Another failure can concern only this read, which isn't what the key is for.
    if (['UNAUTHENTICATED', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT'].includes(error.code)) {
      throw new ImportError(`${error.message} Nothing was sent. notigraph doctor examines the connection and the key.`);
    }
  }
  if (resumed !== undefined) {
    assertSameEnvironment(resumed, environmentId, options);
    return resumed.run;
  }
  return {
    import: 'subscribers',
    version: 1,
    run,
    file: basename(options.path),
    digest: checked.digest,
    rows: checked.rows,
    service: service.address,
    ...(environmentId !== undefined && { environmentId }),
  };
}
