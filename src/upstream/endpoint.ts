// Declares REST endpoints: their types for the compiler, and their rules, which are validated.

import { z } from 'zod';
import { isRecord } from '../lib/is-record.ts';
import { choice, group, HEADER_VALUE, headersByName, integer, list, text } from '../settings/define.ts';
import type { Endpoint } from './errors.ts';

/**
 * Form of a successful response: one object, a list of objects, a page (an object with a list in `data`), any JSON value or none, a text of any media
 * type, or a body that is ignored. Those in JSON can be in an envelope, except a page.
 */
export type Expected = 'record' | 'list' | 'page' | 'value' | 'text' | 'nothing';

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
  /** Sent as `Idempotency-Key`; at most 255 characters. @default none */
  readonly idempotencyKey?: string | undefined;
  /** Whether the call is one item of a bulk write, which has a separate limit. @default false */
  readonly isBulkItem?: boolean;
}

export interface CachedRead {
  /** Name in metrics. The setting `cache` has windows for the built-in names; others need `windows`. */
  readonly resource: string;
  /** Name by which writes empty it, shared by reads of the same data. @default resource */
  readonly kind?: string | undefined;
  /** Times for which a response is used, in seconds. @default those of the setting `cache` */
  readonly windows?: CacheWindowSeconds | undefined;
}

/** Times for which a response is used, in seconds. */
interface CacheWindowSeconds {
  /** Age up to which it is used without asking the service. */
  readonly freshSeconds: number;
  /** Time after `freshSeconds` in which it is still used, while it is requested again in the background. */
  readonly staleWhileRevalidateSeconds: number;
  /** Time after `freshSeconds` in which it is used if the service fails. */
  readonly staleIfErrorSeconds: number;
}

export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** Values that the contract permits at one place of a response. */
export interface Shape {
  /** Permitted types. @default all; the value is free-form */
  types?: readonly JsonType[];
  /** All permitted values. @default any value of the types */
  values?: readonly string[];
  /** Items of a list. @default free-form */
  items?: Shape;
  /** Known fields of an object. @default free-form */
  fields?: Readonly<Record<string, Shape>>;
  /** Fields that are always present. @default none */
  required?: readonly string[];
}

/** Request headers of an endpoint: texts are sent with every call, and `true` stands for a value in the argument `headers` of the call. */
export type DeclaredHeaders = Readonly<Record<string, string | true>>;

interface EndpointOptions<Form extends Expected, Headers extends DeclaredHeaders> {
  /** Form of a successful response. Any other form violates the contract. @default 'record' */
  expect?: Form;
  /** Request headers, except those that the gateway sets. @default none */
  headers?: Headers;
  /** Time limit of one attempt, in milliseconds. The operation's deadline still holds. @default the setting `attemptTimeoutMs` */
  timeoutMs?: number;
  /** Form of lists in `query`: `a=1&a=2` or `a=1,2`. @default 'repeated' */
  lists?: 'repeated' | 'comma';
  /** Shape with which responses are compared. Deviations are logged and counted. @default not compared; built-in endpoints have that of the contract */
  response?: Shape | undefined;
  /**
   * Members that identify a record: at least one must be there. A response without them is rejected, and an item of a list without them fails alone.
   *
   * @default none: any object is a record
   */
  identifiedBy?: readonly string[];
}

interface OptionsOfReads {
  /** Use of the cache, if the setting `cache` is on. @default not cached */
  cached?: CachedRead;
}

interface OptionsOfWrites {
  /** Whether the service accepts the header `Idempotency-Key` here. @default false */
  idempotent?: boolean;
  /** Whether the service can apply it twice without harm, so that it is sent again after a temporary failure. @default false */
  repeatable?: boolean;
  /** Whether null and empty lists in the body clear members of the record. The success then has `uncleared`, those that the response still has. @default false */
  clears?: boolean;
  /** Kinds of cached reads that it changes. @default those of the reads whose paths are at, above or below its own */
  empties?: readonly string[];
  /** Format of the body. @default 'json' */
  bodyFormat?: 'json' | 'form';
  /** Members of the body that can be any text, such as HTML. Other texts directly in the body must be single lines. @default none */
  multiline?: readonly string[];
}

/** REST endpoint with its rules: its options, with defaults. */
export interface DeclaredEndpoint extends Endpoint, Readonly<z.output<typeof OPTIONS>> {
  /** Module that declares it; undefined if it is built in. */
  readonly module: string | undefined;
  /** Whether it is built in or of a shipped module: a record is absent only if the body of a 404 or 410 has that status too, as the service sends it. */
  readonly isShipped: boolean;
  /** Names of the parameters of the path. */
  readonly params: readonly string[];
  /** Tells its reads apart from those of other endpoints with the same path. The same in all processes and after a reload. */
  readonly identity: string;
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
export const RESERVED = ['query', 'body', 'headers', 'idempotencyKey', 'isBulkItem'];

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

const isHeader = (value: unknown) => value === true || (typeof value === 'string' && HEADER_VALUE.test(value));

const names = () => list(text(), 'must be a list of texts');
const flag = () => z.boolean('must be true or false').default(false);
const seconds = (min: number) => integer(min, 86_400);
const options = <Shape extends z.ZodRawShape>(shape: Shape, problem: string) => group(shape, problem, 'option');

const OPTIONS = options(
  {
    expect: choice(['record', 'list', 'page', 'value', 'text', 'nothing']).default('record'),
    headers: headersByName(
      z.custom<string | true>(isHeader, 'must be true, or a text without control characters'),
      "which an endpoint can't declare",
    ).optional(),
    timeoutMs: integer(1, 600_000).optional(),
    lists: choice(['repeated', 'comma']).default('repeated'),
    response: z.custom<Shape>(isRecord, 'must be a shape').optional(),
    identifiedBy: names().default([]),
    cached: options(
      {
        resource: text(),
        kind: text().optional(),
        windows: options(
          { freshSeconds: seconds(1), staleWhileRevalidateSeconds: seconds(0), staleIfErrorSeconds: seconds(0) },
          'must be an object of three times in seconds',
        ).optional(),
      },
      'must be an object with a resource',
    )
      .refine(({ resource, windows }) => windows !== undefined || FRESH_SECONDS.has(resource), 'must have windows')
      .optional(),
    idempotent: flag(),
    repeatable: flag(),
    clears: flag(),
    empties: names().optional(),
    bodyFormat: choice(['json', 'form']).default('json'),
    multiline: names().default([]),
  },
  'has options that are not an object',
);

/**
 * Default of `freshSeconds` for each built-in resource: half a minute is a user's visit. Statistics change with every notification, but are read as trends.
 */
export const FRESH_SECONDS: ReadonlyMap<string, number> = new Map([
  ['workflows', 30],
  ['notificationGroups', 30],
  ['statistics', 60],
]);

/** Options that an endpoint can't have: of writes, of reads, and of responses with records. */
const MISPLACED = [
  { names: ['idempotent', 'repeatable', 'clears', 'empties', 'bodyFormat', 'multiline'], methods: ['GET'], forms: [] },
  { names: ['cached'], methods: ['POST', 'PUT', 'PATCH', 'DELETE'], forms: ['nothing'] },
  { names: ['identifiedBy', 'response'], methods: [], forms: ['text', 'nothing'] },
] as const;

/** Validates options and applies defaults. @throws {TypeError} that names all that are wrong */
function readOptions(template: string, method: Endpoint['method'], given: object) {
  const { data, error } = OPTIONS.safeParse(given);
  const problems = (error?.issues ?? []).map(({ path, message }) => `${path.join('.') || 'it'} ${message}`);
  for (const { names, methods, forms } of data === undefined ? [] : MISPLACED) {
    const conflict = [method, data?.expect].find((each) => [...methods, ...forms].some((other) => other === each));
    const misplaced = names.filter((name) => conflict !== undefined && Reflect.get(given, name) !== undefined);
    problems.push(...misplaced.map((name) => `${name} can't be used with ${conflict}`));
  }
  if (data === undefined || problems.length > 0) {
    throw new TypeError(`The endpoint ${template} is invalid: ${problems.join('; ')}.`);
  }
  return data;
}

/** Error of a call that a module makes in a way that its endpoint doesn't declare. Nothing was sent. */
export class InvalidCall extends TypeError {}

export const invalidCall = ({ method, route, module }: DeclaredEndpoint, problem: string): InvalidCall =>
  new InvalidCall(
    `${method} ${route}${module === undefined ? '' : ` of the module ${module}`} was not sent: ${problem}.`,
  );

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

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

/**
 * Whether a body is in an envelope. Services may send any body with or without one.
 *
 * A workflow or subscriber without an envelope may have its own `data` field. Such records also have `_organizationId`, which
 * envelopes don't.
 */
export const isEnvelope = (body: unknown): body is { data: unknown } =>
  isRecord(body) && Object.hasOwn(body, 'data') && !Object.hasOwn(body, '_organizationId');

/** Removes the envelope of a body, if any. */
export const unwrap = (body: unknown): unknown => (isEnvelope(body) ? body.data : body);
