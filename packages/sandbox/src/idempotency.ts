// Replays the responses of repeated `Idempotency-Key`s.

import { hash } from 'node:crypto';
import type { SandboxDatabase } from './database.ts';
import { ApiError } from './errors.ts';
import type { SandboxResponse } from './response.ts';
import { integer, optionalText, type Row, text } from './rows.ts';

export const IDEMPOTENCY_SCHEMA = `
  CREATE TABLE idempotent_responses (
    key TEXT PRIMARY KEY,
    request_hash TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT
  ) STRICT;
`;

const MAX_KEY_LENGTH = 255;

/** Page about reused keys, which the response to one refers to. */
const KEY_REUSE_HELP = 'https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-06#section-2.7';

/**
 * Creates the function that responds to requests with an `Idempotency-Key`, and stores the responses. As in the real service, a key applies to
 * the organization and not to an environment or a path: the same key and body sent with another API key, or to another endpoint, replay the first
 * response.
 */
export function createIdempotency(database: SandboxDatabase) {
  const find = database.prepare('SELECT * FROM idempotent_responses WHERE key = ?');
  const insert = database.prepare(
    'INSERT INTO idempotent_responses (key, request_hash, status, body) VALUES (?, ?, ?, ?)',
  );
  const inFlight = new Set<string>();

  function replay(row: Row, requestHash: string): SandboxResponse {
    if (text(row, 'request_hash') !== requestHash) {
      const message = 'This Idempotency-Key was already used with another body. For idempotency, use a new key.';
      throw new ApiError(422, message, { Link: `<${KEY_REUSE_HELP}>; rel="describedby"` });
    }
    const headers = { 'Idempotency-Replay': 'true' };
    return { status: integer(row, 'status'), body: optionalText(row, 'body'), headers };
  }

  /**
   * Returns the stored response, or runs the request and stores its response in the same transaction as its writes.
   *
   * @param run returns error responses too, and they are stored like any other; if it throws, nothing is stored
   */
  return async (
    key: string,
    readBody: () => Promise<Row | undefined>,
    run: (body: Row | undefined) => SandboxResponse,
  ): Promise<SandboxResponse> => {
    if (key.length > MAX_KEY_LENGTH) {
      throw new ApiError(400, `The Idempotency-Key must not be longer than ${MAX_KEY_LENGTH} characters.`);
    }
    if (inFlight.has(key)) {
      const message = 'A request with this Idempotency-Key is still in flight. Try again in a second.';
      throw new ApiError(409, message, { 'Retry-After': '1' });
    }
    const isFirst = find.get(key) === undefined;
    if (isFirst) {
      inFlight.add(key); // Before the body arrives, which can take time.
    }
    try {
      const body = await readBody();
      const requestHash = hash('sha256', JSON.stringify(body ?? null));
      return database.transaction(() => {
        const stored = find.get(key);
        if (stored !== undefined) {
          return replay(stored, requestHash);
        }
        const response = run(body);
        insert.run(key, requestHash, response.status, response.body);
        return response;
      });
    } finally {
      if (isFirst) {
        inFlight.delete(key);
      }
    }
  };
}
