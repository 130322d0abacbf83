// The implementations of the service that tests ask through a gateway: sandboxes, and a running service if there is one.

import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import { loadModules } from '../../packages/cli/src/config/load-modules.ts';
import type { Records } from '../../packages/sandbox/src/records.ts';
import { ENDPOINTS } from '../../packages/testing/src/endpoints.gen.ts';
import { matchRequest, sortByPrecedence } from '../../packages/testing/src/endpoints.ts';
import { arrayOf, recordOf } from '../../src/lib/is-record.ts';
import { SHIPPED_MODULES } from '../../src/modules/shipped.ts';
import { type StartedGateway, startGateway, type TestDocument } from '../support/gateway.ts';
import { type Exchange, forwardTo, startService } from '../support/service.ts';
import { withNames } from './differences.ts';
import { recordsOf, TRAITS } from './questions.ts';
import { ask, createRecords, createTarget, startSandbox, type Target } from './targets.ts';

/** Part of the titles of all tests that ask a running service. */
export const SERVICE = 'the service in NOTIGRAPH_TEST_UPSTREAM';

export interface Implementation {
  start(run: string, records: Records): Promise<Target & AsyncDisposable>;
  /** Whether delays and digests don't wait. */
  isAtOnce: boolean;
}

const sandbox = (traits: typeof TRAITS): Implementation => ({
  start: (run, records) => startSandbox(run, records, traits),
  isAtOnce: true,
});

const { NOTIGRAPH_TEST_UPSTREAM: url, NOTIGRAPH_TEST_KEY: key } = process.env;
const { NOTIGRAPH_TEST_PRODUCTION_KEY: productionKey } = process.env;

/** Implementations by their names in titles. */
export const IMPLEMENTATIONS: readonly (readonly [name: string, Implementation])[] = [
  ['the sandbox', sandbox([])],
  ['the sandbox with the traits of October 2024', sandbox(TRAITS)],
  ...(url === undefined || key === undefined
    ? []
    : [
        [
          SERVICE,
          {
            start: (run: string, records: Records) => startRunning(run, records, { url, key, productionKey }),
            isAtOnce: false,
          },
        ] as const,
      ]),
];

/** Gives a running service the records. They stay, because tests delete only what they create. */
export async function startRunning(run: string, records: Records, access: Parameters<typeof createTarget>[1]) {
  const target = createTarget(run, access);
  await createRecords(target, records);
  return { ...target, [Symbol.asyncDispose]: async () => {} };
}

/** Keys with which a test sends an operation. */
export type Caller = 'development' | 'production' | 'unknown';

/** Time in which the messages of an event arrive. */
const DELIVERY_MS = 60_000;

const SORTED = sortByPrecedence([...ENDPOINTS]);

/** Returns the endpoint of a request, such as `GET /v1/topics/{topicKey}`. */
export const endpointOf = (method: string, path: string): string => matchRequest(method, path, SORTED).endpoint;

/** Gateway with all shipped modules in front of an implementation. */
export type Connected = Awaited<ReturnType<typeof connect>>;

/** Starts a gateway in front of an implementation, whose requests are recorded. @param of records of a run */
export async function connect(implementation: Implementation, of: (run: string) => Records = recordsOf) {
  await using stack = new AsyncDisposableStack();
  const run = `run-${randomUUID().slice(0, 8)}`;
  const target = stack.use(await implementation.start(run, of(run)));
  const exchanges: Exchange[] = [];
  const recorder = stack.use(await startService(forwardTo(target.url, exchanges)));
  const modules = await loadModules({ modules: SHIPPED_MODULES });
  const gateway: StartedGateway = stack.use(await startGateway({ upstream: recorder.url, modules }));
  const keys = { development: target.key, production: target.productionKey, unknown: `key-${randomUUID()}` };
  const askTarget = (question: string, body?: unknown) => ask(target, { ask: question, body });
  const { status: invalid } = await askTarget('PUT /v1/workflows/malformed/status', { active: true });

  /** Returns the messages of a transaction. Not by reading an inbox: the service keeps what it read while a message was being sent. */
  async function messages(transactionId: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { body } = await askTarget(`GET /v1/messages?transactionId=${encodeURIComponent(transactionId)}&limit=100`);
    return arrayOf(recordOf(body).data).map(recordOf);
  }

  const parts = stack.move();
  return {
    target,
    gateway,
    /** Status with which the version rejects invalid input. */
    invalid,
    /** Requests since the last `calls()`. */
    exchanges,
    ask: askTarget,
    messages,
    /** Returns the result of the operation's first field, or the codes of its errors. */
    async run<Data, Variables>(
      document: TestDocument<Data, Variables> | string,
      variables?: Variables,
      as: Caller = 'development',
    ): Promise<unknown> {
      const authorization = `ApiKey ${keys[as]}`;
      const { body, codes } = await gateway.send<Data, Variables>(document, variables, { authorization });
      return codes.length > 0 ? { codes } : Object.values(body.data ?? {})[0];
    },
    /** Returns a copy of a value with the values of the run in place of their names. */
    fill<Value>(value: Value): Value {
      const fillText = (text: string) =>
        text.replaceAll(/\{(\w+)\}/g, (whole, name) => target.values.get(name) ?? whole);
      return value === undefined
        ? value
        : JSON.parse(JSON.stringify(value), (_name, each) => (typeof each === 'string' ? fillText(each) : each));
    },
    /** Returns a copy of a value with names in place of the values of the run. */
    named(value: unknown): unknown {
      const { body } = withNames({ status: 0, headers: {}, body: value ?? null }, target.values);
      return JSON.parse(JSON.stringify(body).replaceAll(/<(\w+)>/g, '{$1}'));
    },
    /** Returns the requests since the last call with their bodies and statuses. Values of the run have names. */
    calls(): string[] {
      const lines = exchanges
        .splice(0)
        .map(({ method, path, body, status }) =>
          [method, decodeURIComponent(path.replaceAll('+', ' ')), body, status].filter((part) => part !== '').join(' '),
        );
      return arrayOf(this.named(lines)).map(String);
    },
    /** Waits until transactions have so many messages. */
    async awaitMessages(counts: Readonly<Record<string, number>>): Promise<void> {
      for (const [name, count] of Object.entries(counts)) {
        await vi.waitUntil(async () => (await messages(this.fill(name))).length >= count, {
          timeout: DELIVERY_MS,
          interval: 50,
        });
      }
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
