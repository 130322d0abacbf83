// Defines loaders of records, and gives a field a client and loaders of its own, although all fields of an operation have one context.

import { AsyncLocalStorage } from 'node:async_hooks';
import { memoizeByObject } from '../lib/memoize.ts';
import type { FieldWrites, UpstreamClient } from '../upstream/calls.ts';
import type { CallArgs, DeclaredEndpoint, ReadEndpoint } from '../upstream/endpoint.ts';

/** Endpoints with which records are read, and the name of a record, such as `workflow`, which is unique in the schema. */
export type LoaderEndpoints = { readonly name: string } & (
  | { readonly get: DeclaredEndpoint; readonly many?: ManyEndpoint }
  | { readonly get?: undefined; readonly many: ManyEndpoint }
);

type ManyEndpoint = { readonly endpoint: DeclaredEndpoint; readonly argsOf?: unknown };

export type KeyArgs = CallArgs & { readonly query?: undefined; readonly headers?: undefined };

/** Reads of records by a key: of one, of several, or both. */
export type Loader<Row> = {
  /** Name of a record, such as `workflow`. Unique in the schema. */
  readonly name: string;
  /** Adds the key to a record without one, if it was read with `get`. @default (row) => row */
  readonly identify?: (row: Row, key: string) => Row;
} & (
  | {
      /** Read of one record with nothing but the key, which is the only parameter of its path. */
      readonly get: ReadEndpoint<KeyArgs, Row>;
      /** Read of several records, used if an operation needs more than one. @default one call per record, eight at a time */
      readonly many?: ManyReads<Row>;
    }
  | { readonly get?: undefined; readonly many: ManyReads<Row> & Required<Pick<ManyReads<Row>, 'argsOf'>> }
);

export interface ManyReads<Row> {
  /**
   * Returns the records with the keys, in any order, as a list or in a page. Without `argsOf`, it returns a list of all records, and is called once per
   * operation.
   */
  readonly endpoint: ReadEndpoint<CallArgs, RowsBody<Row>>;
  /** Returns the key of a record as the service sent it; undefined if it sent none. */
  readonly keyOf: (row: Row) => unknown;
  /** Returns the arguments that select the records. @default the endpoint returns all */
  readonly argsOf?: (keys: readonly string[]) => CallArgs;
  /** Maximum keys per call. @default 100 */
  readonly max?: number;
}

/** List, or page. A page with `hasMore` doesn't show which records are missing. */
export type RowsBody<Row> = readonly Row[] | { readonly data: readonly Row[]; readonly hasMore?: boolean };

/** Loaders of one operation. Records are cached only for that operation, and in a mutation only for one of its fields. */
export interface Loaders {
  /**
   * Returns the record with a key, or null if it doesn't exist. Each is loaded once, and an error affects only its own key.
   *
   * @throws {UpstreamError} BAD_USER_INPUT if the key can't be part of a call
   */
  load<Row>(loader: Loader<Row>, key: string): Promise<Row | null>;
  /** Returns all records with at most one call. An invalid one is an `UpstreamError` in its place. */
  list<Row>(loader: Loader<Row>): Promise<readonly Row[] | null>;
  reset(): void;
}

/** Part of the context for the calls of a field. */
export interface FieldContext {
  /** Client of the service, with the caller's credential. Only the resolver of a mutation's field can write. */
  readonly upstream: UpstreamClient;
  readonly loaders: Loaders;
}

/** Returns the record that has this key, or null. */
export type LoadByKey = (key: string, context: FieldContext) => Promise<object | null>;

/**
 * Identity of a type's records in a federated graph, declared as `extensions: { entity }` of the type: fields that identify a record, each with the
 * function that loads it; null if the service has no endpoint that reads it.
 */
export class Entity extends Map<string, LoadByKey | null> {}

/** Returns the entity of a type; undefined if other subgraphs can't refer to its records. */
export const entityOf = ({ extensions }: { extensions: { entity?: unknown } }): Entity | undefined =>
  extensions.entity instanceof Entity ? extensions.entity : undefined;

/** Receiver of what loaders do, for reports of an operation's calls. */
export interface LoaderReports {
  /** Returns the client for the call that loads a record or several. */
  clientOf(name: string): UpstreamClient;
  /** The records with these keys are taken from the response of a call for several of them. */
  taken(keys: readonly string[], call: string, loader: LoaderEndpoints): void;
}

/** Returns the endpoint with which a loader reads one record. */
export const readOf = ({ get, many }: LoaderEndpoints): DeclaredEndpoint => (get === undefined ? many.endpoint : get);

export const recordName = ({ name }: LoaderEndpoints, key: string): string => `${name} ${key}`;

/** Returns the name of the call that reads all records of a loader. */
export const listName = ({ name }: LoaderEndpoints): string => `list of ${name}s`;

/** Context of an operation, and what one of its fields has instead of the context's client and loaders. */
type Field = Readonly<{ context: FieldContext; own: FieldContext }>;

const running = new AsyncLocalStorage<Field>();

/** Lets a context have what the running field has. Once it is needed, because most operations don't need it. */
const openContext = memoizeByObject((context: FieldContext): void => {
  const shared = { upstream: context.upstream, loaders: context.loaders };
  const current = () => {
    const field = running.getStore();
    return field?.context === context ? field.own : shared; // A resolver can start another operation.
  };
  Object.defineProperties(context, {
    upstream: { get: () => current().upstream },
    loaders: { get: () => current().loaders },
  });
});

/** Runs a function of a field, which has its own client and loaders until its promise settles, also for what it doesn't wait for. */
export function runWith<Args extends unknown[], T>(field: Field, run: (...args: Args) => T, ...args: Args): T {
  openContext(field.context);
  return running.run(field, run, ...args);
}

/** Returns the client and loaders of a mutation's field, or of an item of it, whose writes count there. */
export const ownWrites = ({ upstream, loaders }: FieldContext, own: FieldWrites): FieldContext => ({
  upstream: {
    read: (endpoint, args) => upstream.read(endpoint, args),
    write: (endpoint, args, writes = own) => upstream.write(endpoint, args, writes),
  },
  loaders,
});
