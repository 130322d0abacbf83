import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Settings } from '../settings/settings.ts';
import { isUpstreamError } from '../upstream/errors/errors.ts';
import { auditUnavailable } from '../upstream/errors/failures.ts';
import type { UpstreamRequest } from '../upstream/request.ts';
import type { WriteAudit, WriteAuthor, WriteRecord } from '../upstream/write-audit.ts';
import type { AuditCounts } from './audit-counts.ts';
import { openAuditFile } from './audit-file.ts';
import { idsOf } from './audit-ids.ts';
import type { TenantNames } from './tenant-names.ts';

/** Options of `createAuditLog`. */
export interface AuditLogOptions {
  settings: NonNullable<Settings['audit']>;
  logger: Pick<Logger, 'error'>;
  counts: AuditCounts;
  nameTenant: TenantNames;
  now: () => Date;
}

/** End of a write, as fields of a line. */
interface Ending {
  outcome: 'PENDING' | 'APPLIED' | 'NOT_APPLIED' | 'UNKNOWN';
  code?: string;
  httpStatus?: number | undefined;
}

/** Maximum length of a subject, which an issuer chooses. */
const MAX_SUBJECT = 256;

/**
 * Creates the audit log: a line per write sent to the service, after it has ended. If lines are required, one more before it is sent, so that
 * no write is sent without one. Lines contain no values and no keys.
 *
 * @throws {AuditError} if the file can't be opened
 */
export function createAuditLog(options: AuditLogOptions): WriteAudit & Disposable {
  const { settings, logger, counts, nameTenant, now } = options;
  const file = openAuditFile(settings.to);
  let isFailing = false;

  /** Writes a line. Returns whether it was written; logs the first failure of several. */
  function write(fields: object): boolean {
    try {
      file.write(`${JSON.stringify({ time: now().toISOString(), ...fields })}\n`);
      counts.add('written');
      isFailing = false;
      return true;
    } catch (error) {
      counts.add('failed');
      if (!isFailing) {
        isFailing = true;
        const problem = error instanceof Error ? error.message : String(error);
        logger.error({ problem, required: settings.required }, 'the audit log cannot be written');
      }
      return false;
    }
  }

  function begin({ identity, traceIds, field }: WriteAuthor, request: UpstreamRequest): WriteRecord {
    const { endpoint, requestId, authorization } = request;
    const { clientKind, tenant = nameTenant(authorization), subject, upstream } = identity;
    const id = randomUUID();
    let attempts = 0;

    function writeEnding(ending: Ending, body?: unknown): boolean {
      const { outcome, ...details } = ending;
      return write({
        id,
        requestId,
        ...traceIds,
        clientKind,
        tenant,
        subject: subject?.slice(0, MAX_SUBJECT),
        field,
        upstream,
        ...endpoint,
        ids: idsOf(request, body),
        outcome,
        ...details,
        ...(attempts > 0 && { attempts }),
      });
    }

    return {
      sending() {
        if (attempts === 0 && settings.required && !writeEnding({ outcome: 'PENDING' })) {
          throw auditUnavailable(endpoint);
        }
        attempts += 1;
      },
      async follow(result) {
        try {
          const response = await result;
          writeEnding({ outcome: 'APPLIED', httpStatus: response.status }, response.body);
          return response;
        } catch (error) {
          if (attempts > 0) {
            writeEnding(endingOf(error));
          }
          throw error;
        }
      },
    };
  }

  return { begin, [Symbol.dispose]: () => file[Symbol.dispose]() };
}

function endingOf(error: unknown): Ending {
  if (!isUpstreamError(error)) {
    return { outcome: 'UNKNOWN', code: 'INTERNAL_SERVER_ERROR' };
  }
  return { outcome: error.outcome ?? 'UNKNOWN', code: error.code, httpStatus: error.status };
}
