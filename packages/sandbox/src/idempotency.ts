// Replays the responses of repeated `Idempotency-Key`s.

import { createHash } from 'node:crypto';
import type { StatementSync } from 'node:sqlite';

import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { ApiError } from './errors.ts';
import type { SandboxResponse } from './response.ts';
import { integer, optionalText, text } from './rows.ts';

export const IDEMPOTENCY_SCHEMA = `
  CREATE TABLE idempotent_responses (
    environment_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT,
    PRIMARY KEY (environment_id, key)
  ) STRICT;
`;

const MAX_KEY_LENGTH = 255;

/** Page about reused keys, which the response to one refers to. */
const KEY_REUSE_HELP = 'https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-06#section-2.7';

/**
 * Stores the responses of requests with an `Idempotency-Key`. As in the real service, a key applies to its whole environment and not to one
 * path: the same key and body sent to another endpoint replay the first response.
 */
export class Idempotency {
  readonly #database: SandboxDatabase;
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #inFlight = new Set<string>();

  constructor(database: SandboxDatabase) {
    this.#database = database;
    this.#find = database.prepare('SELECT * FROM idempotent_responses WHERE environment_id = ? AND key = ?');
    this.#insert = database.prepare(
      'INSERT INTO idempotent_responses (environment_id, key, request_hash, status, body) VALUES (?, ?, ?, ?, ?)',
    );
  }

  /**
   * Reserves the key for its first request as soon as the headers arrive, because the body can take time.
   *
   * @returns a function that releases the key
   */
  reserve(environment: Environment, key: string): () => void {
    if (key.length > MAX_KEY_LENGTH) {
      throw new ApiError(400, `The Idempotency-Key must not be longer than ${MAX_KEY_LENGTH} characters.`);
    }
    const slot = `${environment.id} ${key}`;
    if (this.#inFlight.has(slot)) {
      const message = 'A request with this Idempotency-Key is still in flight. Try again in a second.';
      throw new ApiError(409, message, { 'Retry-After': '1' });
    }
    if (this.#find.get(environment.id, key) !== undefined) {
      return () => {};
    }
    this.#inFlight.add(slot);
    return () => this.#inFlight.delete(slot);
  }

  /**
   * Returns the stored response, or runs the request and stores its response in the same transaction as its writes.
   *
   * @param run returns error responses too, and they are stored like any other; if it throws, nothing is stored
   */
  respond(environment: Environment, key: string, requestBody: unknown, run: () => SandboxResponse): SandboxResponse {
    const requestHash = createHash('sha256').update(JSON.stringify(requestBody)).digest('hex');
    return this.#database.transaction(() => {
      const row = this.#find.get(environment.id, key);
      if (row !== undefined) {
        if (text(row, 'request_hash') !== requestHash) {
          const message = 'This Idempotency-Key was already used with another body. For idempotency, use a new key.';
          throw new ApiError(422, message, { Link: `<${KEY_REUSE_HELP}>; rel="describedby"` });
        }
        const headers = { 'Idempotency-Replay': 'true' };
        return { status: integer(row, 'status'), body: optionalText(row, 'body'), headers };
      }
      const response = run();
      this.#insert.run(environment.id, key, requestHash, response.status, response.body);
      return response;
    });
  }
}
