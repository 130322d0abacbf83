import { randomUUID } from 'node:crypto';

/** Ids from callers must fit into a header and a log line. */
const ACCEPTABLE = /^[\w.:-]{1,128}$/;

/** Header with the request id, in requests and responses. */
export const REQUEST_ID = 'x-request-id';

/** Returns the caller's id if it is acceptable, otherwise a new one. */
export const toRequestId = (given: string | undefined): string =>
  given !== undefined && ACCEPTABLE.test(given) ? given : randomUUID();
