// Examines what the headers of a response say about clocks, rate limits, caching and connections.

import type { SingleResponse } from '../../../../src/upstream/service.ts';
import { type Finding, note, ok, type ReportFinding, warning } from './finding.ts';
import { LIST, type Session } from './session.ts';

/** Tolerated difference of the clocks. `Date` has whole seconds, and the response takes some time. */
const MAX_SKEW_SECONDS = 5;

/** Share of the rate limit below which the rest is called low. */
const LOW_SHARE = 0.1;

/** Examines the headers of a response, and sends one more read with its `ETag`. */
export async function examineHeaders(
  session: Session,
  response: SingleResponse,
  now: Date,
  report: ReportFinding,
): Promise<void> {
  report(examineClock(response.header('date'), now));
  report(examineRateLimit(response));
  report(await examineETag(session, response.header('etag')));
  report(examineKeepAlive(response, session.service.settings.socketIdleMs));
}

function examineClock(date: string | undefined, now: Date): Finding {
  const skew = Math.round((Date.parse(date ?? '') - now.getTime()) / 1_000);
  if (Number.isNaN(skew)) {
    return note('Responses have no Date header, so the clocks could not be compared.');
  }
  return Math.abs(skew) > MAX_SKEW_SECONDS
    ? warning(
        `The clock of the service is ${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} that of this machine.`,
        'Synchronize both with NTP. Tokens, certificates and rate limits depend on the time.',
      )
    : ok('The clocks of the service and this machine agree.');
}

function examineRateLimit({ rateLimit: found }: SingleResponse): Finding {
  if (found === undefined) {
    return note('The service announces no rate limit. Notigraph then waits only after a 429.');
  }
  const { limit, remaining, resetSeconds } = found;
  const reset = resetSeconds === undefined ? '' : `, reset in ${resetSeconds} s`;
  const sentence = `Rate limit of the key: ${remaining}${limit === undefined ? '' : ` of ${limit}`} calls remain${reset}.`;
  return limit !== undefined && remaining < limit * LOW_SHARE
    ? warning(sentence, 'Ask for a higher limit, or limit callers with clients.server.rateLimit.')
    : ok(sentence);
}

async function examineETag({ get }: Session, etag: string | undefined): Promise<Finding> {
  if (etag === undefined) {
    return note('Responses have no ETag, so every read is transferred completely.');
  }
  const { status } = await get({ ...LIST, headers: { 'if-none-match': etag } });
  return status === 304
    ? ok('Reads have an ETag, and unchanged ones are answered with 304.')
    : note('Reads have an ETag, but If-None-Match is not answered with 304. The list may have changed in between.');
}

/** Checks that the service keeps idle connections longer than the gateway does. Otherwise it closes some just as they are used. */
function examineKeepAlive({ header }: SingleResponse, socketIdleMs: number): Finding {
  if (/\bclose\b/i.test(header('connection') ?? '')) {
    return warning(
      'The service closes the connection after each response.',
      'Turn on keep-alive in the service or in what is in front of it: each request now needs a new connection.',
    );
  }
  const [, seconds] = /\btimeout=(\d{1,6})/i.exec(header('keep-alive') ?? '') ?? [];
  if (seconds === undefined) {
    return note(
      `The service keeps connections open, but does not announce how long. Notigraph closes idle ones after ${socketIdleMs / 1_000} s.`,
      'Keep socketIdleMs below the idle timeout of the service and its load balancer.',
    );
  }
  const sentence = `The service closes idle connections after ${seconds} s, and Notigraph after ${socketIdleMs / 1_000} s`;
  return Number(seconds) * 1_000 > socketIdleMs
    ? ok(`${sentence}.`)
    : warning(`${sentence}, so requests can meet a connection that is being closed.`, 'Lower socketIdleMs.');
}
