// Records who changed what, one line per write.

import { randomUUID } from 'node:crypto';
import { accessSync, closeSync, constants, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import type { Secret, SourceProblem } from '../files/secret-files.ts';
import { caught, errorCodeOf, SetupError } from '../lib/caught.ts';
import { createCredentialFilter } from '../lib/credential-filter.ts';
import { isRecord, recordOf } from '../lib/is-record.ts';
import { pauseSync } from '../lib/promises.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import type { Outcome, UpstreamRequest } from '../upstream/calls.ts';
import { errorOf, isUpstreamError, type UpstreamError, type WriteOutcome } from '../upstream/errors.ts';
import { pathIdOf } from '../upstream/input-rules.ts';
import type { TenantNames, TraceIds } from './logs/access-log.ts';
import type { Counters } from './metrics.ts';

export interface WriteAuthor {
  identity: Pick<Identity, 'clientKind' | 'tenant' | 'subject' | 'issuer' | 'upstreamName'>;
  /** IP address of the client; undefined if it is not logged. */
  address: string | undefined;
  /** Ids of the operation's span; undefined if there is none. */
  traceIds: TraceIds | undefined;
  field: string | undefined;
}

export type AuditLog = ReturnType<typeof createAuditLog>;

export type WriteRecord = ReturnType<AuditLog['begin']>;

/** Maximum length of a subject, which an issuer chooses. */
const MAX_SUBJECT = 256;

/**
 * Creates the audit log: a line per write sent to the service, after it has ended. If lines are required, one more before it is sent, so that
 * no write is sent without one. Lines contain no values and no keys.
 *
 * @throws {AuditError} if the file can't be opened
 */
export function createAuditLog(
  settings: NonNullable<GatewaySettings['audit']>,
  logger: Logger,
  countLine: CountAuditLine,
  nameTenant: TenantNames,
  now: () => Date,
) {
  const file = openAuditFile(settings.to);
  let isFailing = false;

  /** Writes a line. Returns whether it was written; logs the first failure of several. */
  function write(fields: object): boolean {
    try {
      file.write(`${JSON.stringify({ time: now().toISOString(), ...fields })}\n`);
      countLine('written');
      if (isFailing) {
        isFailing = false;
        logger.warn('the audit log can be written again');
      }
      return true;
    } catch (error) {
      countLine('failed');
      if (!isFailing) {
        isFailing = true;
        const problem = error instanceof Error ? error.message : String(error);
        logger.error({ problem, required: settings.required }, 'the audit log cannot be written');
      }
      return false;
    }
  }

  function begin({ identity, address, traceIds, field }: WriteAuthor, request: UpstreamRequest) {
    const { endpoint, requestId, credential } = request;
    const { clientKind, tenant = nameTenant(credential), subject, issuer, upstreamName } = identity;
    const id = randomUUID();
    let attempts = 0;

    function writeOutcome(
      outcome: 'PENDING' | 'APPLIED' | WriteOutcome,
      details: { code?: string; httpStatus?: number | undefined } = {},
      body?: unknown,
    ): boolean {
      return write({
        id,
        requestId,
        ...traceIds,
        clientKind,
        tenant,
        subject: subject?.slice(0, MAX_SUBJECT),
        issuer,
        address,
        field,
        upstream: upstreamName,
        method: endpoint.method,
        route: endpoint.route,
        ids: idsOf(request, body),
        outcome,
        ...details,
        ...(attempts > 0 && { attempts }),
      });
    }

    return {
      /** Returns why the write must not be sent: it can't be recorded. Called before each attempt. */
      refusal(): UpstreamError | undefined {
        if (attempts === 0 && settings.required && !writeOutcome('PENDING')) {
          return errorOf('auditUnavailable', endpoint);
        }
        attempts += 1;
        return undefined;
      },
      end(outcome: Outcome): void {
        if (!isUpstreamError(outcome)) {
          writeOutcome('APPLIED', { httpStatus: outcome.status }, outcome.body);
        } else if (attempts > 0) {
          writeOutcome(outcome.outcome ?? 'UNKNOWN', { code: outcome.code, httpStatus: outcome.status });
        }
      },
    };
  }

  /** Records a client token before it is handed out. Returns whether it may be. */
  function noteToken({ requestId, tenant, ...issued }: IssuedToken): boolean {
    const call = { method: 'POST', route: '/client-tokens', outcome: 'APPLIED' };
    return write({ id: randomUUID(), requestId, clientKind: 'server', tenant, issued, ...call }) || !settings.required;
  }

  return { begin, noteToken, [Symbol.dispose]: () => file[Symbol.dispose]() };
}

export interface IssuedToken {
  requestId: string;
  tenant: string;
  subject: string | undefined;
  scopes: readonly string[];
  expiresInSeconds: number;
}

type CountAuditLine = (result: 'written' | 'failed') => void;

/** Creates the counts of lines. They have no samples until there is a line, because most gateways have no audit log. */
export function createAuditCounts(counters: Counters): CountAuditLine {
  const help = 'Lines of the audit log: written, or failed to be written.';
  const countOf = counters.addCounter('notigraph_audit_lines_total', help, ['result']);
  return (result) => {
    countOf('written'); // Both exist from the first line on.
    countOf('failed');
    countOf(result).value += 1;
  };
}

/** An audit log that can't be opened. */
export class AuditError extends SetupError {
  override readonly name = 'AuditError';
}

/** Only the owner may read who changed what. */
const MODE = 0o600;

/** File descriptor of standard output. */
const STDOUT = 1;

/** Duration of a wait for a slow reader, in milliseconds, and maximum number of waits per line. */
const WAIT_MS = 1;
const MAX_WAITS = 50;

/**
 * Opens the destination. A file is only appended to, so that several processes can share it, and opened again when it was renamed or
 * removed.
 *
 * @throws {AuditError} if it can't be opened
 */
export function openAuditFile(to: 'stdout' | { file: string }) {
  if (to === 'stdout') {
    return { write: (line: string) => writeLine(STDOUT, line), [Symbol.dispose]() {} };
  }
  const { file: path } = to;
  let file = open(path);
  let isTorn = false;

  return {
    /** Writes a line in one piece. Throws if it is not written completely. */
    write(line: string): void {
      if (!isAt(path, file)) {
        const next = open(path);
        closeSync(file);
        file = next;
        isTorn = false;
      }
      const text = isTorn ? `\n${line}` : line;
      isTorn = true; // A line of which only a part fits on the disk must not swallow the next one.
      writeLine(file, text);
      isTorn = false;
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}

function open(path: string): number {
  try {
    return openSync(path, 'a', MODE);
  } catch (error) {
    throw toAuditError(path, error);
  }
}

/** Returns why lines couldn't be appended to files, by the names of their paths. The files are not created. */
export const findAuditProblems = (sources: Readonly<Record<string, Secret>>): SourceProblem[] =>
  Object.entries(sources).flatMap(([name, source]) => {
    if (typeof source === 'string') {
      return [];
    }
    const error = caught(Error, () => assertAppendable(source.file));
    return error === undefined ? [] : [{ name, problem: toAuditError(source.file, error).message }];
  });

function assertAppendable(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
  } else {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK));
  }
}

/** Describes why a file can't be opened. */
const toAuditError = (path: string, cause: unknown): AuditError =>
  new AuditError(`the audit log ${path} can't be opened (${errorCodeOf(cause) ?? cause})`, { cause });

/** Whether a path still leads to an open file. */
function isAt(path: string, file: number): boolean {
  const { ino, dev } = fstatSync(file);
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.ino === ino && found.dev === dev;
}

/** Writes with one call, which other processes' lines can't interrupt. */
function writeLine(file: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let waits = 0; ; waits += 1) {
    try {
      if (writeSync(file, bytes) < bytes.length) {
        throw new AuditError('only a part of a line was written');
      }
      return;
    } catch (error) {
      if (waits === MAX_WAITS || errorCodeOf(error) !== 'EAGAIN') {
        throw error;
      }
      pauseSync(WAIT_MS); // Standard output can be a pipe that is full.
    }
  }
}

/** Maximum ids of one name in a line. Of more, it has the number. */
const MAX_IDS = 20;

/** Ids in bodies, with their names in a line. Of two of one name, the latter counts. Everything else in a body is a value. */
const BODY_IDS = [
  ['transactionId', 'transactionId', 100], // As many as a call can have events: each can be found.
  ['feedIdentifier', 'feedIdentifier', MAX_IDS],
  ['messageId', 'messageId', MAX_IDS],
  ['subscribers', 'subscriberId', MAX_IDS],
  ['subscriberId', 'subscriberId', MAX_IDS],
  ['id', 'id', MAX_IDS],
  ['_id', 'id', MAX_IDS],
] as const;

const MAX_ID = 256;

/**
 * Returns the ids of the records that a write is about: those in its path, those that the caller chose, and that of a new record. Several of one name
 * are separated by spaces.
 */
export function idsOf({ credential, endpoint, args }: UpstreamRequest, body?: unknown): Record<string, string> {
  const ids: Record<string, string> = {};
  const isShowable = createCredentialFilter({ credential });
  const params = endpoint.params.map((name) => [name, pathIdOf(args, name)] as const);
  const answered = body ?? recordOf(args.body).events; // Until there is a response, events have the ids that the caller chose.
  for (const [name, id] of [...idsIn(answered, 0), ...idsIn(args.body, 1), ...params]) {
    ids[name] = isShowable(id) ? id : '[key]';
  }
  return ids;
}

/** @param depth 1 also reads lists of ids, which say what is to be changed. In a response, such a list would be a part of a record */
const idsIn = (body: unknown, depth: 0 | 1) =>
  BODY_IDS.flatMap(([member, name, max]) => {
    const values = [body].flat().map((each) => isRecord(each) && each[member]);
    const ids = values.flat(depth).flatMap((value) => (typeof value === 'string' ? value.slice(0, MAX_ID) : []));
    const text = ids.length > max ? `${ids.length} ids` : ids.join(' ');
    return ids.length === 0 ? [] : [[name, text] as const];
  });
