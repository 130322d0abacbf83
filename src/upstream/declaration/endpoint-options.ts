// The options of REST endpoints: their types, defaults and validation.

import { z } from 'zod';
import { isRecord } from '../../lib/is-record.ts';
import { choice, group, HEADER_VALUE, headersByName, integer, list, text } from '../../settings/define.ts';
import type { Endpoint } from '../errors.ts';
import type { Expected, Shape } from './response-form.ts';

/** Request headers of an endpoint: texts are sent with every call, and `true` stands for a value in the argument `headers` of the call. */
export type DeclaredHeaders = Readonly<Record<string, string | true>>;

export interface EndpointOptions<Form extends Expected, Headers extends DeclaredHeaders> {
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
  /**
   * Whether ids can contain `/` and `\`, which are sent encoded. A proxy that decodes paths makes them separators, so that the call reaches another endpoint.
   *
   * @default false
   */
  slashesInIds?: boolean;
  /**
   * Parameters of the path and members of the body whose ids the service gives to its records: 24 hexadecimal digits. If it fails with 500 on another form,
   * the message says so.
   *
   * @default none
   */
  recordIds?: readonly string[];
  /**
   * Parameters of the query with the id of a record whose items the list has. The service answers 404 if it has no such record; otherwise, a 404 for a
   * path without parameters comes from something else.
   *
   * @default none
   */
  selectedBy?: readonly string[];
}

export interface OptionsOfReads {
  /** Use of the cache, if the setting `cache` is on. @default not cached */
  cached?: CachedRead;
}

export interface OptionsOfWrites {
  /** Whether the service accepts the header `Idempotency-Key` here. @default false */
  idempotent?: boolean;
  /** Whether the service can apply it twice without harm, so that it is sent again after a temporary failure. @default false */
  repeatable?: boolean;
  /** Whether null and empty lists in the body clear members of the record. The success then has `uncleared`, those that the response still has. @default false */
  clears?: boolean;
  /** Members of the body that the record in the response has too. The success then has `unapplied`, those that have another value there. @default none */
  confirms?: readonly string[];
  /** Kinds of cached reads that it changes. @default those of the reads whose paths are at, above or below its own */
  empties?: readonly string[];
  /** Format of the body. @default 'json' */
  bodyFormat?: 'json' | 'form';
  /** Members of the body that can be any text, such as HTML. Other texts directly in the body must be single lines. @default none */
  multiline?: readonly string[];
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
    slashesInIds: flag(),
    recordIds: names().default([]),
    selectedBy: names().default([]),
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
      .transform(({ kind, ...cached }) => ({ ...cached, kind: kind ?? cached.resource }))
      .optional(),
    idempotent: flag(),
    repeatable: flag(),
    clears: flag(),
    confirms: names().default([]),
    empties: names().optional(),
    bodyFormat: choice(['json', 'form']).default('json'),
    multiline: names().default([]),
  },
  'has options that are not an object',
);

/** Options with defaults. */
export type Rules = z.output<typeof OPTIONS>;

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
  {
    names: ['idempotent', 'repeatable', 'clears', 'confirms', 'empties', 'bodyFormat', 'multiline'],
    methods: ['GET'],
    forms: [],
  },
  { names: ['cached'], methods: ['POST', 'PUT', 'PATCH', 'DELETE'], forms: ['nothing'] },
  { names: ['identifiedBy', 'response'], methods: [], forms: ['text', 'nothing'] },
] as const;

/** Validates options and applies defaults. @throws {TypeError} that names all that are wrong */
export function readOptions(template: string, method: Endpoint['method'], given: object) {
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
