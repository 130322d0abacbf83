// Batches and caches the reads of records within one operation, or within one field of a mutation.

import { types } from 'node:util';
import DataLoader from 'dataloader';
import { createBoundedMap, ignoreRejection } from '../../lib/promises.ts';
import type { UpstreamClient } from '../../upstream/calls.ts';
import type { CallArgs, DeclaredEndpoint, ReadEndpoint } from '../../upstream/endpoint.ts';
import { assertPathIds } from '../../upstream/input-rules.ts';
import {
  type KeyArgs,
  type Loader,
  type LoaderReports,
  type Loaders,
  listName,
  type ManyReads,
  type RowsBody,
  recordName,
} from '../loaders.ts';
import { badResponse, toId } from '../values.ts';

/** Maximum concurrent calls for single records: many services allow 30 calls per second. */
const CONCURRENCY = 8;

const MAX_KEYS = 100;

/** Creates each loader on first use, because most operations need only one of them. */
export class OperationLoaders implements Loaders {
  readonly #client: UpstreamClient;
  readonly #reports: LoaderReports | undefined;
  readonly #records = new Map<object, unknown>();

  constructor(client: UpstreamClient, reports?: LoaderReports) {
    this.#client = client;
    this.#reports = reports;
  }

  load<Row>(loader: Loader<Row>, key: string): Promise<Row | null> {
    return this.#recordsOf(loader).load(key);
  }

  list<Row>(loader: Loader<Row>): Promise<readonly Row[] | null> {
    return this.#recordsOf(loader).list();
  }

  reset(): void {
    this.#records.clear();
  }

  #recordsOf<Row>(loader: Loader<Row>): LoadedRecords<Row> {
    let records = this.#records.get(loader);
    if (records === undefined) {
      records = new LoadedRecords(loader, this.#client, this.#reports);
      this.#records.set(loader, records);
    }
    return records as LoadedRecords<Row>; // Only this function sets them.
  }
}

class LoadedRecords<Row> {
  readonly #loader: Loader<Row>;
  readonly #client: UpstreamClient;
  readonly #reports: LoaderReports | undefined;
  readonly #loadAll = createBoundedMap<string, Row | null | Error>(CONCURRENCY);
  readonly #batches: DataLoader<string, Row | null>;
  #list: Promise<readonly Row[] | null> | undefined;
  #hasLoadedOne = false;
  /**
   * Repeated keys share a promise until the next microtask, before DataLoader sends the batch. Its own promise for each of them takes longer than
   * to complete the value: a month of statistics loads ten workflows ninety times.
   */
  #recent: Map<string, Promise<Row | null>> | undefined;

  constructor(loader: Loader<Row>, client: UpstreamClient, reports: LoaderReports | undefined) {
    this.#loader = loader;
    this.#client = client;
    this.#reports = reports;
    // Also without a call for several records: records of one tick then resolve together, so that what they refer to is loaded in one batch.
    this.#batches = new DataLoader((keys) => this.#loadBatch(keys), { name: loader.name });
  }

  load(key: string): Promise<Row | null> {
    const recent = this.#recent ?? this.#rememberForNow();
    let promise = recent.get(key);
    if (promise === undefined) {
      const { get, many } = this.#loader;
      if (many !== undefined) {
        const read = get ?? { ...many.endpoint, params: ['key'] };
        assertPathIds(read, argsOf(read, key)); // A call for several would accept an invalid id and return null.
      }
      promise = ignoreRejection(this.#batches.load(key));
      recent.set(key, promise);
    }
    return promise;
  }

  list(): Promise<readonly Row[] | null> {
    const { name, many } = this.#loader;
    if (many === undefined || many.argsOf !== undefined) {
      throw new TypeError(`The loader ${name} has no endpoint that returns all records.`);
    }
    this.#list ??= this.#clientOf(listName(this.#loader))
      .read(many.endpoint, {})
      .then((body) => body && rowsOf(body));
    return this.#list;
  }

  #rememberForNow(): Map<string, Promise<Row | null>> {
    const recent = new Map<string, Promise<Row | null>>();
    this.#recent = recent;
    queueMicrotask(() => {
      this.#recent = undefined;
    });
    return recent;
  }

  #loadBatch(keys: readonly string[]): Promise<readonly (Row | null | Error)[]> {
    const { get, many } = this.#loader;
    if (get === undefined) {
      return this.#loadParts(keys, many, many.argsOf);
    }
    // A call for all records is made once, so the second single one takes it too.
    const isSingle =
      keys.length === 1 && this.#list === undefined && !(this.#hasLoadedOne && many?.argsOf === undefined);
    if (many === undefined || isSingle) {
      this.#hasLoadedOne = true;
      return this.#loadSingly(keys, get);
    }
    return many.argsOf === undefined ? this.#takeFromList(keys, get, many) : this.#loadParts(keys, many, many.argsOf);
  }

  #loadSingly(keys: readonly string[], get: ReadEndpoint<KeyArgs, Row>): Promise<(Row | null | Error)[]> {
    const { identify } = this.#loader;
    return this.#loadAll(keys, (key, end) => {
      const read = this.#clientOf(recordName(this.#loader, key)).read(get, argsOf(get, key));
      const identified = identify === undefined ? read : read.then((row) => row && (identify(row, key) ?? row));
      identified.then(end, (thrown) => end(toError(thrown)));
    });
  }

  async #takeFromList(keys: readonly string[], get: ReadEndpoint<KeyArgs, Row>, { keyOf }: ManyReads<Row>) {
    this.#reports?.taken(keys, listName(this.#loader), this.#loader);
    const rows = (await this.list()) ?? [];
    const found = alignByKey(keys, rows, keyOf);
    // The contract allows ids to be absent; then the list doesn't show which records are missing.
    if (hasAllKeys(rows, keyOf)) {
      return found;
    }
    const singles = await this.#loadSingly(
      keys.filter((_, i) => found[i] === null),
      get,
    );
    return found.map((row) => row ?? singles.shift() ?? null);
  }

  async #loadParts(
    keys: readonly string[],
    { endpoint, keyOf, max = MAX_KEYS }: ManyReads<Row>,
    argsOfKeys: (keys: readonly string[]) => CallArgs,
  ): Promise<readonly (Row | null | Error)[]> {
    const parts = Array.from({ length: Math.ceil(keys.length / max) }, (_, i) => keys.slice(i * max, (i + 1) * max));
    const loaded = await Promise.all(
      parts.map(async (part) => {
        const call = `${this.#loader.name}s ${part.join(' ')}`;
        this.#reports?.taken(part, call, this.#loader);
        try {
          const body = (await this.#clientOf(call).read(endpoint, argsOfKeys(part))) ?? [];
          const rows = rowsOf(body);
          const found = alignByKey(part, rows, keyOf);
          const problem = !hasAllKeys(rows, keyOf)
            ? 'sent a record without its key'
            : 'hasMore' in body && body.hasMore === true && 'sent only a part of the records that were asked for';
          return problem ? found.map((row) => row ?? badResponse(problem)) : found;
        } catch (error) {
          return part.map(() => toError(error));
        }
      }),
    );
    return loaded.flat();
  }

  #clientOf(name: string): UpstreamClient {
    return this.#reports?.clientOf(name) ?? this.#client;
  }
}

/** Returns what a loader's function has thrown as an error, which stands for a record. Reads no member of it: that could throw too. */
const toError = (thrown: unknown): Error =>
  types.isNativeError(thrown)
    ? thrown
    : new Error('A function of a loader has thrown a value that is no error.', { cause: thrown });

const rowsOf = <Row>(body: RowsBody<Row>): readonly Row[] => ('data' in body ? body.data : body);

/** Whether the rows show which records are missing: each has its key. */
const hasAllKeys = <Row>(rows: readonly Row[], keyOf: (row: Row) => unknown): boolean =>
  rows.every((row) => toId(keyOf(row)) !== undefined);

const argsOf = ({ params: [name = ''] }: DeclaredEndpoint, key: string): KeyArgs => ({ [name]: key });

/**
 * Returns one row per key, in the order of the keys, as DataLoader requires. The entry is null if no row has the key. Other rows are omitted;
 * of several rows with the same key, the first is used.
 */
export function alignByKey<Row>(keys: readonly string[], rows: readonly Row[], keyOf: (row: Row) => unknown) {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    const key = toId(keyOf(row));
    if (key !== undefined && !byKey.has(key)) {
      byKey.set(key, row);
    }
  }
  return keys.map((key) => byKey.get(key) ?? null);
}
