import { createHash } from 'node:crypto';
import type { StatementSync } from 'node:sqlite';

import type { Answer } from './answer.ts';
import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { ApiError } from './errors.ts';
import { integer, optionalText, text } from './rows.ts';

const MAX_KEY_LENGTH = 255;

/**
 * Answers of requests that carried an Idempotency-Key. As in the real service a key is valid for its whole environment,
 * whatever the path: one key sent to two endpoints with the same body repeats the answer of the first.
 */
export class Idempotency {
  readonly #database: SandboxDatabase;
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #running = new Set<string>();

  constructor(database: SandboxDatabase) {
    this.#database = database;
    this.#find = database.prepare('SELECT * FROM idempotent_responses WHERE environment_id = ? AND key = ?');
    this.#insert = database.prepare(
      'INSERT INTO idempotent_responses (environment_id, key, request_hash, status, body) VALUES (?, ?, ?, ?, ?)',
    );
  }

  /**
   * Takes the key while its first request runs, from the headers on: the body may take its time.
   * @returns gives the key back
   */
  reserve(environment: Environment, key: string): () => void {
    if (key.length > MAX_KEY_LENGTH) {
      throw new ApiError(400, `The Idempotency-Key may have up to ${MAX_KEY_LENGTH} characters.`);
    }
    const slot = `${environment.id} ${key}`;
    if (this.#running.has(slot)) {
      const sentence = 'A request with this Idempotency-Key is still running; ask again in a second.';
      throw new ApiError(409, sentence, { headers: { 'Retry-After': '1' } });
    }
    if (this.#find.get(environment.id, key) !== undefined) {
      return () => {};
    }
    this.#running.add(slot);
    return () => this.#running.delete(slot);
  }

  /**
   * Answers from the store, or carries the request out and stores its answer in the same transaction as its writes.
   * @param run answers refusals too, they are stored like any other answer; what it throws is not stored
   */
  answer(environment: Environment, key: string, requestBody: unknown, run: () => Answer): Answer {
    const requestHash = createHash('sha256').update(JSON.stringify(requestBody)).digest('hex');
    return this.#database.transaction(() => {
      const stored = this.#find.get(environment.id, key);
      if (stored !== undefined) {
        if (text(stored, 'request_hash') !== requestHash) {
          throw new ApiError(422, 'This Idempotency-Key came with another body before: idempotency needs a new key.');
        }
        const headers = { 'Idempotency-Replay': 'true' };
        return { status: integer(stored, 'status'), body: optionalText(stored, 'body'), headers };
      }
      const answer = run();
      this.#insert.run(environment.id, key, requestHash, answer.status, answer.body);
      return answer;
    });
  }
}
