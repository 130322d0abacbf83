// A gateway and its service in the process of tests.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { createGateway, type Gateway, type GatewayDeps, type GatewayOptions } from '../../../src/gateway.ts';
import { unknownSetting } from '../../../src/lib/words.ts';
import { createSchema, endpointsOf } from '../../../src/modules/schema.ts';
import { GATEWAY_SETTINGS } from '../../../src/settings/settings.ts';
import type { ParamsOf } from '../../../src/upstream/endpoint.ts';
import { type Client, createClient } from '../../client/src/index.ts';
import type { Records } from '../../sandbox/src/records.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
import type { TraitName } from '../../sandbox/src/traits.ts';
import type { EnvironmentName, UpstreamCall } from './calls.ts';
import { createClock, type TestClock } from './clock.ts';
import type { EndpointPattern } from './endpoints.ts';
import type { ActiveFault, FailOptions, Fault } from './faults.ts';
import { type Responder, TestService } from './test-service.ts';

/** Options of a test gateway: those of `createGateway` without the address of the service, and those of the test. */
export interface TestGatewayOptions<Own extends string = string>
  extends Omit<GatewayOptions, 'upstream' | 'upstreams' | 'proxy' | 'tls'> {
  /** Records of the service: the sandbox's sample, or only your own, in the environment `development`. @default 'sample' */
  records?: 'sample' | Records;
  /**
   * Responses of endpoints that the sandbox doesn't have, by method and template of the path, for modules:
   * `{ 'GET /v1/layouts/{id}': ({ params }) => ({ body: { data: { _id: params.id } } }) }`. @default none: those of modules respond with 404
   */
  endpoints?: Readonly<Partial<Record<Own, Responder>>>;
  /** Behaviors of real services from the start, and after each `reset()`. @default none */
  traits?: readonly TraitName[];
  /** Start time of the clock, which stands still until it is moved. @default the current time */
  now?: Date | string;
  /** Logger of the gateway. @default only unexpected errors, on standard output */
  logger?: NonNullable<GatewayDeps['logger']>;
}

/** Gateway and service in this process, without a port. Close it at the end of the tests. `Own` are the endpoints of the test. */
export interface TestGateway<Own extends string = never> extends AsyncDisposable {
  /** Sends a request to the gateway, as the global `fetch` would. Any origin works; relative addresses work too. */
  fetch(this: void, input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Address of the GraphQL endpoint, for clients that require one. */
  readonly url: string;
  /** Client of `notigraph/client` that sends `key`. It doesn't retry, so that a test sees every failure. */
  readonly client: Client;
  /** API key of the environment `development`. */
  readonly key: string;
  /** API keys of both environments. Each sees only its own records. */
  readonly keys: Readonly<Record<EnvironmentName, string>>;
  readonly clock: TestClock;
  /** Requests that the service received since the creation, the last `clearCalls()` or the last `reset()`, in order. */
  readonly calls: readonly UpstreamCall[];
  /** Forgets the calls so far. */
  clearCalls(): void;
  /**
   * Adds records until the next `reset()`.
   *
   * @throws {TypeError} if one is invalid or already exists; then none is added
   */
  seed(records: Records, options?: { environment?: EnvironmentName }): void;
  /**
   * Makes requests of an endpoint fail. Faults with `times` come first, in the order of the calls; then the latest without.
   *
   * @throws {TypeError} if the endpoint, the fault or an option is invalid
   */
  fail<const Name extends EndpointPattern<Own>>(
    endpoint: Name,
    fault: Fault,
    options?: FailOptions<ParamsOf<Name>>,
  ): ActiveFault;
  /**
   * Switches on a behavior of real services, until `recover()` of the result or the next `reset()`.
   *
   * @throws {TypeError} if there is no such trait
   */
  behave(trait: TraitName): ActiveFault;
  /** Ends the faults of an endpoint, or all. */
  recover(endpoint?: EndpointPattern<Own>): void;
  /** Restores everything as it was after the creation: records, traits, clock, and an empty cache. Ends faults, and forgets calls. */
  reset(): Promise<void>;
  /** Ends requests that are in flight, and closes the gateway. */
  close(): Promise<void>;
}

const ORIGIN = 'http://gateway.test';

/** Options of `createGateway` that have no meaning for a service in memory. */
const FOREIGN = ['upstream', 'upstreams', 'proxy', 'tls'];

const OPTIONS = [
  ...['records', 'endpoints', 'traits', 'now', 'logger', 'plugins', 'modules', 'authenticate'],
  ...Object.keys(GATEWAY_SETTINGS).filter((name) => !FOREIGN.includes(name)),
];

/**
 * Creates a gateway with a notification service in memory. Pauses before retries are at most 1 ms by default; all other settings have
 * the defaults of `createGateway`.
 *
 * @throws {TypeError} if an option or a record is invalid
 */
export async function createTestGateway<const Own extends string = never>({
  records = 'sample',
  endpoints,
  traits = [],
  now = new Date(),
  logger = pino({ level: 'error' }),
  ...options
}: TestGatewayOptions<Own> = {}): Promise<TestGateway<Own>> {
  const foreign = FOREIGN.find((name) => name in options);
  if (foreign !== undefined) {
    throw new TypeError(`A test gateway has a service of its own. Remove the option "${foreign}".`);
  }
  const unknown = Object.keys(options).filter((name) => !OPTIONS.includes(name));
  if (unknown.length > 0) {
    throw new TypeError(
      unknown.map((name) => `createTestGateway has ${unknownSetting(name, OPTIONS, 'option')}.`).join('\n'),
    );
  }
  const clock = createClock(now);
  const start = clock.now();
  const { modules = [] } = options;
  const schema = modules.length === 0 ? undefined : createSchema(undefined, modules);
  const declared = schema && endpointsOf(schema).map(({ method, route }) => `${method} ${route}`);
  const service = await TestService.open(records, clock.now, endpoints, declared);
  const undeclared: string[] = [];
  function open(): Gateway {
    for (const trait of traits) {
      service.behave(trait);
    }
    return createGateway(
      { ...options, upstream: 'http://service.test' },
      {
        ...clock,
        logger,
        connect: service.connect,
        random: () => 0, // Retries follow at once.
        onUndeclaredCall: (problem) => void undeclared.push(problem),
      },
    );
  }
  let gateway: Gateway | undefined;
  try {
    gateway = open();
  } catch (error) {
    service.close();
    throw error;
  }
  const { endpoint } = gateway;

  function current(): Gateway {
    if (gateway === undefined) {
      throw new Error('The test gateway is closed.');
    }
    return gateway;
  }

  async function disposeGateway(disposed: Gateway): Promise<void> {
    service.faults.recover(); // Before, so that retries succeed.
    service.disconnect();
    await disposed.dispose();
  }

  async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input instanceof Request ? input : new URL(input, ORIGIN), init);
    request.signal.throwIfAborted();
    const response = await rejectOnAbort(current().fetch(request), request.signal);
    await rejectUndeclared();
    return response;
  }

  /** @throws {Error} that names the calls so far which explanations don't list */
  async function rejectUndeclared(): Promise<void> {
    await nextTurn(); // In which the last calls are compared.
    if (undeclared.length > 0) {
      throw new Error(undeclared.splice(0).join('\n'));
    }
  }

  async function close(): Promise<void> {
    if (gateway !== undefined) {
      const disposed = gateway;
      gateway = undefined;
      await disposeGateway(disposed);
      service.close();
      await rejectUndeclared();
    }
  }

  const url = new URL(endpoint, ORIGIN).href;
  return {
    fetch,
    url,
    client: createClient({ url, authorization: `ApiKey ${SANDBOX_KEYS.development}`, fetch, retries: false }),
    key: SANDBOX_KEYS.development,
    keys: SANDBOX_KEYS,
    clock,
    get calls() {
      return service.calls;
    },
    clearCalls() {
      service.calls = [];
    },
    seed: (added, { environment = 'development' } = {}) => service.add(added, environment),
    fail: (pattern, fault, settings) => service.faults.fail(pattern, fault, settings),
    behave: (trait) => service.behave(trait),
    recover: (pattern) => service.faults.recover(pattern),
    async reset() {
      await disposeGateway(current());
      clock.set(start);
      service.reset();
      gateway = open();
      await rejectUndeclared();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Settles with the promise, or rejects with the signal's reason as soon as it is aborted, as `fetch` does. */
async function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
