// Declares REST endpoints, and the types of their calls.

import {
  type DeclaredHeaders,
  type EndpointOptions,
  type OptionsOfReads,
  type OptionsOfWrites,
  type Rules,
  readOptions,
} from './declaration/endpoint-options.ts';
import type { Expected } from './declaration/response-form.ts';
import type { Endpoint } from './errors.ts';

export type { CachedRead } from './declaration/endpoint-options.ts';
export type { Expected } from './declaration/response-form.ts';

/** Value of a query parameter. Null and undefined are left out. */
type QueryValue = string | number | boolean | null | undefined | readonly (string | number | boolean)[];

/** Arguments of a call, and the parameters of the path by their names, not encoded. */
export interface CallArgs {
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** Only for writes. Undefined members are left out, and null is sent. */
  readonly body?: object;
  /** Values of the headers that the endpoint declares with `true`. Null and undefined are left out. */
  readonly headers?: Readonly<Record<string, string | null | undefined>>;
  readonly [parameter: string]: unknown;
}

export interface WriteOptions {
  /** Sent as `Idempotency-Key`; at most 255 characters. Services store it without the path, so use another one per record. @default none */
  readonly idempotencyKey?: string | undefined;
  /** Returns the idempotency key for the method and path of the call. @default `idempotencyKey` */
  readonly deriveKey?: ((call: string) => string) | undefined;
  /** Whether the call is one item of a bulk write, which has a separate limit. @default false */
  readonly isBulkItem?: boolean;
}

/** REST endpoint with its rules: its options, with defaults. */
export interface DeclaredEndpoint extends Endpoint, Readonly<Rules> {
  /** Module that declares it; undefined if it is built in. */
  readonly module: string | undefined;
  /** Whether it is built in or of a shipped module: a record is absent only if the body of a 404 or 410 has that status too, as the service sends it. */
  readonly isShipped: boolean;
  /** Names of the parameters of the path. */
  readonly params: readonly string[];
  /** Tells its reads apart from those of other endpoints with the same path. The same in all processes and after a reload. */
  readonly identity: string;
  /** Present if it creates a record, or updates the one with the same id. Then it is sent again after a 500. */
  readonly upsert?: {
    /** Member of the body with a list that the service can reject after it has stored the others. */
    readonly storedLast: string;
    /** Upsert of the records in a list, which also brings back deleted ones. It has no parameters, like this one. */
    readonly restore: DeclaredEndpoint;
    /** Name of the list in its body. */
    readonly list: string;
  };
}

/** Endpoint with the types of its calls: `GET` reads, and other methods change data. */
interface TypedEndpoint<Method extends Endpoint['method'], Args extends CallArgs, Body> extends DeclaredEndpoint {
  readonly method: Method;
  /** Never set: arguments and response, for the compiler. */
  types?(args: Args): Body;
}

export type ReadEndpoint<Args extends CallArgs, Body> = TypedEndpoint<'GET', Args, Body>;

export type WriteEndpoint<Args extends CallArgs, Body> = TypedEndpoint<WriteMethod, Args, Body>;

type WriteMethod = Exclude<Endpoint['method'], 'GET'>;

/** Names of the parameters in a template of a path. */
export type ParamsOf<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

/** Arguments that follow from a declaration: the parameters of its path, and the headers whose values the call has. */
type ArgsOf<Template extends string, Headers extends DeclaredHeaders> =
  Record<never, never> extends Record<Template, true>
    ? CallArgs // The template isn't known to the compiler.
    : { readonly [Name in ParamsOf<Template>]: string } & (true extends Headers[keyof Headers]
        ? {
            readonly headers: {
              readonly [Name in keyof Headers as Headers[Name] extends true ? Name : never]: HeaderValue;
            };
          }
        : { readonly headers?: never }) & { readonly query?: never; readonly body?: never };

type HeaderValue = string | null | undefined;

type BodyOf<Form extends Expected> = Form extends 'nothing' ? undefined : Form extends 'text' ? string : unknown;

/** Arguments of a call that `takes` adds. Other members are mistakes. */
type Taken<More, Names extends 'query' | 'body'> = Pick<CallArgs, Names> & {
  readonly [Name in Exclude<keyof More, Names>]: never;
};

/** The same value, of which optional members can be null too, because those of inputs and arguments can. */
type WithNulls<Value> = Value extends object
  ? { [Name in keyof Value]: WithNulls<Value[Name]> | (undefined extends Value[Name] ? null | undefined : never) }
  : Value;

export interface Declaration<Method extends Endpoint['method'], Args extends CallArgs, Body>
  extends TypedEndpoint<Method, Args, Body> {
  /** Declares the types of `query` and, for a write, `body`. Their optional members accept null. */
  takes<More extends Taken<More, Method extends 'GET' ? 'query' : 'query' | 'body'>>(): Declaration<
    Method,
    Omit<Args, keyof More> & { [Name in keyof More]: WithNulls<More[Name]> },
    Body
  >;
  /** Declares the type of the response without its envelope. */
  returns<Result>(): Declaration<Method, Args, Result>;
}

/**
 * Matches a method and a path. Parts of a segment after a parameter, such as `:archive` and `.json`, end with a letter or digit, so that no id makes
 * them a dot segment. Several parameters are separated by characters that are encoded in ids, so that only one path has the same ids.
 */
const TEMPLATE =
  /^(GET|POST|PUT|PATCH|DELETE) ((?:\/(?=\.?[\w~-]|\{)[\w.~:@,;=-]*(?:\{\w+\}(?:[\w.~-]*[:@,;=][\w.~-]*\{\w+\})*(?:[\w.~:@,;=-]*\w)?)?)+)$/;

/** Names of `CallArgs` and `WriteOptions`, which parameters of a path can't have. */
export const RESERVED = ['query', 'body', 'headers', 'idempotencyKey', 'deriveKey', 'isBulkItem'];

/**
 * Declares an endpoint of the service. The parameters of its path are arguments of its calls; `takes` declares others, and `returns` the response.
 *
 * @example endpoint('PATCH /v1/topics/{topicKey}').takes<{ body: { name: string } }>().returns<TopicBody>()
 * @throws {TypeError} if the method and path have another form
 */
export function endpoint<
  const Method extends Endpoint['method'],
  const Path extends `/${string}`,
  const Headers extends DeclaredHeaders = Readonly<Record<never, never>>,
  const Form extends Expected = 'record',
>(
  template: `${Method} ${Path}`,
  options?: EndpointOptions<Form, Headers> & (Method extends 'GET' ? OptionsOfReads : OptionsOfWrites),
): Declaration<Method, ArgsOf<Path, Headers>, BodyOf<Form>>;
export function endpoint(template: string, options: object = {}): DeclaredEndpoint {
  const [, word, route = ''] = TEMPLATE.exec(template) ?? [];
  const method = METHODS.find((each) => each === word);
  const params = [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (method === undefined || params.some((name) => RESERVED.includes(name)) || new Set(params).size < params.length) {
    throw new TypeError(
      `The endpoint ${JSON.stringify(template)} must be a method and a path such as "GET /v1/topics/{topicKey}". Its parameters need different names, other than ${RESERVED.join(', ')}.`,
    );
  }
  const rules = readOptions(template, method, options);
  const { expect, headers, identifiedBy } = rules;
  const declared = {
    ...rules,
    repeatable: method === 'GET' || rules.repeatable,
    module: undefined,
    isShipped: true,
    method,
    route,
    params,
    identity: JSON.stringify([template, expect, identifiedBy, headers]), // All that decides the result of a response.
    takes: returnThis, // Both declare only types.
    returns: returnThis,
  };
  return declared;
}

function returnThis<Self>(this: Self): Self {
  return this;
}

/** Error of a call that a module makes in a way that its endpoint doesn't declare. Nothing was sent. */
export class InvalidCall extends TypeError {}

export const invalidCall = ({ method, route, module }: DeclaredEndpoint, problem: string): InvalidCall =>
  new InvalidCall(
    `${method} ${route}${module === undefined ? '' : ` of the module ${module}`} was not sent: ${problem}.`,
  );

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Returns the kinds of reads that each endpoint empties. Of a write, these are those that it declares, or else those of all reads whose paths are at, above or below its own. A
 * declaration is about the built-in reads and those of its module. Its author may not know the others, so they count in any case.
 */
export function findEmptied(endpoints: readonly DeclaredEndpoint[]): Map<DeclaredEndpoint, readonly string[]> {
  const reads = endpoints.flatMap(({ route, cached, module }) =>
    cached === undefined ? [] : [{ route, module, kind: cached.kind }],
  );
  return new Map(
    endpoints.map((endpoint) => {
      const { empties, method, module, route } = endpoint;
      const related = method === 'GET' ? [] : reads.filter((read) => isSameResource(route, read.route));
      const kindsOf = (isKnown: boolean) =>
        related.flatMap((read) => ([undefined, module].includes(read.module) === isKnown ? read.kind : []));
      return [endpoint, [...new Set([...(empties ?? kindsOf(true)), ...kindsOf(false)])]];
    }),
  );
}

/**
 * Whether one path is at or below the other. A parameter can be any segment. `things:search`, `things;v=1` and, at the end, `things.json` are forms of
 * `things`, and `things,parts` are both.
 */
function isSameResource(one: string, other: string): boolean {
  const [shorter = [], longer = []] = [one, other]
    .map((route) => route.replace(/\.[a-z]\w*$/i, '').split('/'))
    .map((segments) => segments.map((segment) => segment.split(',').map((name) => name.replace(/[:;].*/, ''))))
    .sort((a, b) => a.length - b.length);
  return shorter.every((names, i) =>
    names.some((name) => longer[i]?.some((each) => each === name || `${each}${name}`.includes('{'))),
  );
}
