import { isRecord } from '../lib/is-record.ts';
import type { Endpoint } from './errors.ts';
import type { Shape } from './shape.ts';

/**
 * Form of a successful response: one object, a list of objects, a page (an object with a list in `data`), any JSON value or none, or a body that is
 * ignored. All but a page can be in an envelope.
 */
export type Expected = 'record' | 'list' | 'page' | 'value' | 'nothing';

/** Arguments of a call, and the parameters of the path by their names, not encoded. */
export interface CallArgs {
  /** Query parameters; undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. Only for writes. */
  readonly body?: object;
  readonly [parameter: string]: unknown;
}

/** Options of a single write. */
export interface WriteOptions {
  /** Sent as `Idempotency-Key`; at most 255 characters. @default none */
  readonly idempotencyKey?: string | undefined;
  /** Whether the call is one item of a bulk write, which has a separate limit. @default false */
  readonly isBulkItem?: boolean;
}

/** Use of the cache for the responses of a read. */
export interface CachedRead {
  /** Name in settings and metrics. The setting `cache` has windows for its own names; others need `windows`. */
  readonly resource: string;
  /** Name by which writes empty it, shared by reads of the same data. @default resource */
  readonly kind?: string;
  /** Times for which a response is used, in seconds. @default those of the setting `cache` */
  readonly windows?: CacheWindowSeconds;
}

/** Times for which a response is used, in seconds. */
export interface CacheWindowSeconds {
  /** Age up to which it is used without asking the service. */
  readonly freshSeconds: number;
  /** Time after `freshSeconds` in which it is still used, while it is requested again in the background. */
  readonly staleWhileRevalidateSeconds: number;
  /** Time after `freshSeconds` in which it is used if the service fails. */
  readonly staleIfErrorSeconds: number;
}

interface EndpointOptions {
  /** Form of a successful response. Any other form violates the contract. @default 'record' */
  expect?: Expected;
  /** Shape with which responses are compared. Deviations are logged and counted. @default not compared */
  response?: Shape | undefined;
  /**
   * Members that identify a record: at least one must be there. A response without them is rejected, and an item of a list without them fails alone.
   *
   * @default none: any object is a record
   */
  identifiedBy?: readonly string[];
}

/** Options of a read. */
export interface ReadEndpointOptions extends EndpointOptions {
  /** Use of the cache, if the setting `cache` is on. @default not cached */
  cached?: CachedRead;
}

/** Options of a write. */
export interface WriteEndpointOptions extends EndpointOptions {
  /** Whether the service accepts the header `Idempotency-Key` here. @default false */
  idempotent?: boolean;
  /** Whether the service can apply it twice without harm, so that it is sent again after a temporary failure. @default false */
  repeatable?: boolean;
  /** Kinds of cached reads that it changes. @default those of the reads whose paths are at, above or below its own */
  empties?: readonly string[];
  /** Members of the body that can be any text, such as HTML. Other texts directly in the body must be single lines. @default none */
  multiline?: readonly string[];
}

/** REST endpoint with its rules. */
export interface DeclaredEndpoint extends Endpoint {
  /** Names of the parameters of the path. */
  readonly params: readonly string[];
  /** Tells its reads apart from those of other endpoints with the same path. The same in all processes and after a reload. */
  readonly identity: string;
  readonly expect: Expected;
  readonly isIdempotent: boolean;
  readonly isRepeatable: boolean;
  readonly cached: CachedRead | undefined;
  /** Undefined if it isn't declared. */
  readonly empties: readonly string[] | undefined;
  readonly multiline: readonly string[];
  readonly response: Shape | undefined;
  readonly identifiedBy: readonly string[];
}

/** Endpoint that reads. */
export interface ReadEndpoint<Args extends CallArgs, Body> extends DeclaredEndpoint {
  readonly method: 'GET';
  /** Never set: arguments and response, for the compiler. */
  types?(args: Args): Body;
}

/** Endpoint that changes data. */
export interface WriteEndpoint<Args extends CallArgs, Body> extends DeclaredEndpoint {
  readonly method: WriteMethod;
  /** Never set: arguments and response, for the compiler. */
  types?(args: Args): Body;
}

type WriteMethod = Exclude<Endpoint['method'], 'GET'>;

/** Arguments of an endpoint without any. */
export type NoArgs = Readonly<Record<never, never>>;

const TEMPLATE = /^(GET|POST|PUT|PATCH|DELETE) ((?:\/(?:[\w~-][\w.~-]*|\{\w+\}))+)$/;

/** Names of `CallArgs` and `WriteOptions`. */
const RESERVED = ['query', 'body', 'idempotencyKey', 'isBulkItem'];

/**
 * Declares an endpoint of the service. `Args` are the parameters of its path, `query` and `body`; `Body` is the response without its envelope.
 *
 * @example endpoint<{ topicKey: string }, TopicBody>('GET /v1/topics/{topicKey}')
 * @throws {TypeError} if the method and path have another form
 */
export function endpoint<Args extends CallArgs, Body>(
  template: `GET /${string}`,
  options?: ReadEndpointOptions,
): ReadEndpoint<Args, Body>;
export function endpoint<Args extends CallArgs, Body>(
  template: `${WriteMethod} /${string}`,
  options?: WriteEndpointOptions,
): WriteEndpoint<Args, Body>;
export function endpoint(template: string, options: ReadEndpointOptions & WriteEndpointOptions = {}): DeclaredEndpoint {
  const [, method, route = ''] = TEMPLATE.exec(template) ?? [];
  const params = [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (!isMethod(method) || params.some((name) => RESERVED.includes(name)) || new Set(params).size < params.length) {
    throw new TypeError(
      `The endpoint ${JSON.stringify(template)} must be a method and a path such as "GET /v1/topics/{topicKey}". Its parameters need different names, other than ${RESERVED.join(', ')}.`,
    );
  }
  const { expect = 'record', response, cached, idempotent = false, repeatable = false } = options;
  const { empties, multiline = [], identifiedBy = [] } = options;
  return {
    method,
    route,
    params,
    identity: JSON.stringify([template, expect, identifiedBy]), // All that decides the result of a response.
    expect,
    isIdempotent: idempotent,
    isRepeatable: method === 'GET' || repeatable,
    cached,
    empties,
    multiline,
    response,
    identifiedBy,
  };
}

const METHODS: readonly unknown[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies Endpoint['method'][];

const isMethod = (method: unknown): method is Endpoint['method'] => METHODS.includes(method);

/** Returns the kind of reads that a cached read belongs to. */
export const kindOf = ({ resource, kind = resource }: CachedRead): string => kind;

/** Whether a value of a response is a record: an object with one of the members that identify it. */
export const isIdentified = (value: unknown, identifiedBy: readonly string[]): boolean =>
  isRecord(value) &&
  (identifiedBy.length === 0 ||
    identifiedBy.some(
      (name) =>
        (typeof value[name] === 'string' && value[name] !== '') ||
        typeof value[name] === 'number' ||
        value[name] === true,
    ));
