// The id of a request, in its headers, those of its response, and the logs of both services.

import { randomUUID } from 'node:crypto';

/** Form of ids from clients, which must fit into a header and a log line. */
const REQUEST_ID_FORM = /^[\w.:-]{1,128}$/;

/** Name of the header with the request id, in requests and responses. */
export const REQUEST_ID = 'x-request-id';

/** Returns the client's id if it is acceptable, otherwise a new one. */
export const toRequestId = (given: string | undefined): string =>
  given !== undefined && REQUEST_ID_FORM.test(given) ? given : randomUUID();
