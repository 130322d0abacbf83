// Failures of the service, as tests script them.

import { unknownSetting } from '../../../src/lib/words.ts';
import { findEndpoint, type Match, paramNamesOf } from './endpoints.ts';

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
type NumberIn<Text extends string> = Text extends `${infer Value extends number}` ? Value : never;

/** Status of a failure, from 400 to 599. */
export type FaultStatus = NumberIn<`${4 | 5}${Digit}${Digit}`>;

/** Response of the service instead of its own. Without `status` and `body`, the service responds as usual, but later or with more headers. */
export interface FaultResponse {
  /** @default that of the service; with a body, 200 */
  status?: number;
  /** JSON value; a string is sent as it is. @default that of the service; with a status, an error as the service sends it */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Delay before the response, in real milliseconds. @default 0 */
  delayMs?: number;
}

/**
 * Failure of the service: a status, a response, or
 * - `timeout`: no response within the gateway's time limit, but without waiting for it
 * - `disconnect`: the connection breaks after the request was received
 * - `invalid-json`: a truncated body with status 200
 */
export type Fault = FaultStatus | FaultResponse | 'timeout' | 'disconnect' | 'invalid-json';

export interface FailOptions<Param extends string = string> {
  /** Number of requests that fail. The gateway retries reads, and each attempt counts. @default all, until `recover()` */
  times?: number;
  /** Parameters of requests that fail, by their names in the endpoint. @default any */
  params?: { readonly [Name in Param]?: string };
  /** Whether the service carries out a request before it fails. @default false */
  applied?: boolean;
}

/** Fault or trait that is in effect. Disposing it ends it. */
export interface ActiveFault extends Disposable {
  /** Ends it. */
  recover(): void;
}

export interface TakenFault {
  fault: Exclude<Fault, FaultStatus>;
  applied: boolean;
}

interface Script extends TakenFault, Match {
  remaining: number;
}

const OPTIONS = ['times', 'params', 'applied'];
const RESPONSE_MEMBERS = ['status', 'body', 'headers', 'delayMs'];
const NAMED: readonly unknown[] = ['timeout', 'disconnect', 'invalid-json'];

/** Scripted faults. Those with `times` come first, in the order in which they were added; then the latest of the others. */
export class Faults {
  readonly #endpoints: readonly string[];
  #scripts: Script[] = [];

  /** @param endpoints Endpoints that can fail */
  constructor(endpoints: readonly string[]) {
    this.#endpoints = endpoints;
  }

  /** Adds a fault. @throws {TypeError} if the endpoint, the fault or an option is invalid */
  fail(pattern: string, fault: Fault, options: FailOptions = {}): ActiveFault {
    const endpoint = findEndpoint(pattern, this.#endpoints);
    rejectUnknown(options, OPTIONS, 'option');
    const { times = Number.POSITIVE_INFINITY, params = {}, applied = false } = options;
    if (!(times >= 1 && (Number.isInteger(times) || times === Number.POSITIVE_INFINITY))) {
      throw new TypeError(`"times" must be a positive integer, not ${times}.`);
    }
    const script: Script = {
      endpoint,
      params: renameParams(pattern, endpoint, params),
      fault: checkFault(fault),
      applied,
      remaining: times,
    };
    this.#scripts.push(script);
    const recover = () => this.#remove((other) => other === script);
    return { recover, [Symbol.dispose]: recover };
  }

  /** Ends the faults of an endpoint, or all. @throws {TypeError} if there is no such endpoint */
  recover(pattern?: string): void {
    const endpoint = pattern === undefined ? undefined : findEndpoint(pattern, this.#endpoints);
    this.#remove((script) => endpoint === undefined || script.endpoint === endpoint);
  }

  /** Returns the fault of a request, and counts it. */
  take({ endpoint, params }: Match): TakenFault | undefined {
    const matching = this.#scripts.filter(
      (candidate) =>
        candidate.endpoint === endpoint &&
        Object.entries(candidate.params).every(([name, value]) => params[name] === value),
    );
    const script = matching.find(({ remaining }) => Number.isFinite(remaining)) ?? matching.at(-1);
    if (script !== undefined) {
      script.remaining -= 1;
      this.#remove(({ remaining }) => remaining === 0);
    }
    return script;
  }

  #remove(isOver: (script: Script) => boolean): void {
    this.#scripts = this.#scripts.filter((script) => !isOver(script));
  }
}

function renameParams(
  pattern: string,
  endpoint: string,
  params: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const [names, endpointNames] = [paramNamesOf(pattern), paramNamesOf(endpoint)];
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => {
      const at = names.indexOf(name);
      if (at < 0) {
        throw new TypeError(`"${pattern}" has no parameter "${name}".`);
      }
      return value === undefined ? [] : [[endpointNames[at] ?? name, value]];
    }),
  );
}

function checkFault(fault: Fault): TakenFault['fault'] {
  if (typeof fault === 'number') {
    return checkFault({ status: fault });
  }
  if (typeof fault === 'object' && fault !== null) {
    rejectUnknown(fault, RESPONSE_MEMBERS, 'member');
    const { status = 200, delayMs = 0 } = fault;
    if (!(Number.isInteger(status) && status >= 200 && status <= 599)) {
      throw new TypeError(`The status of a fault must be from 200 to 599, not ${status}.`);
    }
    if (!(delayMs >= 0 && Number.isFinite(delayMs))) {
      throw new TypeError(`"delayMs" must not be negative, but is ${delayMs}.`);
    }
    return fault;
  }
  if (!NAMED.includes(fault)) {
    throw new TypeError(
      `Unknown fault "${fault}". Use a status, ${NAMED.map((name) => `"${name}"`).join(', ')} or a response.`,
    );
  }
  return fault;
}

/** Rejects names that plain JavaScript would ignore: the fault would be another one than the test means. */
function rejectUnknown(value: object, names: readonly string[], noun: string): void {
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`The fault has ${unknownSetting(unknown, names, noun)}.`);
  }
}
