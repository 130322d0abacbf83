import type { ServerResponse } from 'node:http';

/** Error that the server itself answers with, before the gateway sees the request. */
export interface ServerRefusal {
  status: number;
  code: 'BAD_REQUEST' | 'OVERLOADED' | 'PAYLOAD_TOO_LARGE';
  message: string;
  /** Seconds after which the request may be sent again; a refusal without it is final. */
  retryAfterSeconds?: number;
  /** Whether the connection is closed, because the rest of the request will not be read. */
  closes?: boolean;
}

/** Sends an error in the same shape as every other one, without the cost of executing anything. */
export function sendRefusal(
  response: ServerResponse,
  { status, code, message, retryAfterSeconds, closes = false }: ServerRefusal,
): void {
  const retryable = retryAfterSeconds !== undefined;
  const extensions = { code, retryable, retryAfterSeconds }; // JSON drops what is undefined.
  const body = Buffer.from(JSON.stringify({ errors: [{ message, extensions }] }));
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(retryable && { 'retry-after': String(retryAfterSeconds) }),
    ...(closes && { connection: 'close' }),
  });
  response.end(body);
}
