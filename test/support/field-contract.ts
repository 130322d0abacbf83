// Tests what every root field that makes a call gets by its declaration.

import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { GatewayModule } from '../../src/modules/module.ts';
import { type GatewayWithService, startGateway } from './gateway.ts';
import { metricValues } from './metrics-text.ts';
import { workflow } from './records.ts';
import { createTemporaryFolder } from './sandbox-files.ts';
import type { Script } from './service.ts';

/** Root field that makes one call, and what holds for its endpoint. */
export interface Field {
  /** Method and template of the path. */
  endpoint: string;
  /** Field with its arguments and, of a read, its selection. `$id` is its id. */
  text: string;
  /** Path that is sent, with `{}` for the encoded id. @default that of the endpoint */
  path?: string;
  /** Body of a successful response. @default none, with status 204 */
  body?: unknown;
  /** Whether the call is sent again after a failure that may have applied it. @default only reads */
  isRepeatable?: boolean;
  /** Whether it is also sent again with an idempotency key. @default false */
  isIdempotent?: boolean;
  /** Field of the record that makes the call, if not the root field itself. */
  caller?: string;
  /** Result if there is no such record. @default null, for a path with ids */
  absent?: unknown;
  /** Failures that the mutation returns, besides `InvalidInputError`. @default none */
  returns?: readonly ('NotFoundError' | 'ConflictError')[];
  /** Message of its `NotFoundError`. @default that of the service */
  notFoundMessage?: string;
}

/** Ids that no path can have. */
export const REFUSED_IDS = {
  'an empty id': '',
  'a dot': '.',
  'two dots': '..',
  'encoded dots': '%2e%2e',
  'dots, half encoded': '.%2E',
  'dots, encoded twice': '%252e%252e',
  'dots around an encoded slash': '..%2f..',
  'dots behind a slash': 'a/../b',
  'dots behind a backslash': 'a\\..',
  'dots with a parameter': '..;',
  'a dot with a parameter of its own': '.;v=1',
  'dots with a parameter, encoded': '%2e%2e%3Ba=b',
  'dots with a parameter behind a slash': 'a/..;/b',
  'dots before an encoded space': '..%20',
  'full-width dots': '．．',
  'full-width dots, encoded': '%EF%BC%8E%ef%bc%8e',
  'dots behind a full-width slash': 'a／..',
  'dots in one character': '‥',
  'dots in two bytes each': '%c0%ae%C0%AE',
  'dots behind a slash of two bytes': 'a%c0%af..',
  'a line break': 'a\r\nb',
  'an encoded line break': 'a%0d%0ab',
  NUL: 'a\u0000',
  'a lone surrogate': 'a\ud800',
  '257 characters': 'a'.repeat(257),
  'a space at the beginning': ' a',
  'a no-break space at the end': 'a\u00a0',
};

/** Ids that a proxy which decodes paths could send to another endpoint. In bodies, they are sent as they are. */
export const IDS_WITH_SLASHES = {
  'a slash': 'a/b',
  'an encoded slash': 'a%2fb',
  'a slash, encoded twice': 'a%252Fb',
  'a slash in two bytes': 'a%c0%afb',
  'a full-width slash': 'a／b',
  'a backslash': 'a\\b',
  'an encoded backslash': 'a%5Cb',
};

/** Another call of the same key: it is held, or takes the only call of the budget. */
const OTHER = 'workflow(idOrIdentifier: "other") { __typename }';
const OTHER_PATH = '/v1/workflows/other';

const SELECTION = '{ __typename ... on MutationError { message } ... on InvalidInputError { issues { path } } }';

const isRead = ({ endpoint }: Field): boolean => endpoint.startsWith('GET ');
const hasId = ({ text }: Field): boolean => text.includes('$id');
const nameOf = ({ text }: Field): string => /^\w+/.exec(text)?.[0] ?? '';

/** Returns the operation that calls the field. @param before root fields before it */
export function documentOf(field: Field, before = '', alias = 'result'): string {
  const selection = isRead(field) ? '' : SELECTION;
  const variables = hasId(field) ? '($id: ID!)' : '';
  return `${isRead(field) ? 'query' : 'mutation'} ${variables} { ${before} ${alias}: ${field.text} ${selection} }`;
}

/** Returns the method and path of the field's call. */
export function callOf({ endpoint, path }: Field, id = 'r1'): string {
  const [method = '', route = ''] = endpoint.split(' ');
  return `${method} ${(path ?? route).replace(/\{\w*\}/, encodeURIComponent(id))}`;
}

/** Result of the field, or the extensions of the first error. */
interface Outcome {
  result: unknown;
  error: Record<string, unknown> | undefined;
}

/** Runs a field through a gateway. */
async function runField(
  gateway: GatewayWithService,
  field: Field,
  { key = 'key-1', id = 'r1', headers = {}, text = documentOf(field) } = {},
): Promise<Outcome> {
  const { body } = await gateway.send(text, hasId(field) ? { id } : {}, { authorization: `ApiKey ${key}`, headers });
  return { result: Object.values(body.data ?? {}).at(-1), error: body.errors?.[0]?.extensions };
}

/** Whether the field has a result, not a failure. */
const succeeded = ({ result, error }: Outcome): boolean =>
  error === undefined && result != null && !String(Reflect.get(Object(result), '__typename')).endsWith('Error');

const fail =
  (status: number): Script =>
  () => ({ status, body: { statusCode: status, message: 'No.' } });

/** Declares tests of what every field gets by its declaration. @param modules modules of the fields that are not built in */
export function describeContract(fields: readonly Field[], modules: readonly GatewayModule[] = []): void {
  /** Gateways of all fields: with the usual limits and an audit log, with room for one call, two with one retry, and one whose breaker opens soon. */
  let usual: GatewayWithService;
  let narrow: GatewayWithService;
  let retrying: GatewayWithService;
  let retryingWithKeys: GatewayWithService;
  let breaking: GatewayWithService;
  let readAudit: () => Promise<string[]>;

  beforeAll(async () => {
    const folder = await createTemporaryFolder();
    const file = folder.path('audit.jsonl');
    readAudit = async () => (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    const patient = { breakerMinimumCalls: Number.POSITIVE_INFINITY };
    const start = (options: object, deps = {}) => startGateway({ service: () => {}, modules, ...options }, deps);
    usual = await start({ audit: { to: { file }, required: false } });
    narrow = await start({ maxConcurrentCallsPerKey: 1, maxUpstreamCalls: 1 });
    retrying = await start({ maxRetries: 1 }, patient);
    retryingWithKeys = await start({ maxRetries: 1, upstreamIdempotency: true }, patient);
    breaking = await start({ maxRetries: 0 }, { breakerMinimumCalls: 2 });
    return async () => {
      for (const each of [usual, narrow, retrying, retryingWithKeys, breaking, folder]) {
        await each[Symbol.asyncDispose]();
      }
    };
  });

  it('calls end with their operation', async () => {
    const options = { modules, operationTimeoutMs: 2_500 }; // Long enough for the calls to be sent, on a busy machine too.
    await using gateway = await startGateway({ service: () => undefined, ...options });
    for (const i of fields.keys()) {
      await gateway.accept(`key-${i}`);
    }
    await Promise.all(
      fields.map(async (field, i) => {
        expect(await runField(gateway, field, { key: `key-${i}` }).then(({ error }) => error)).toMatchObject({
          code: 'UPSTREAM_TIMEOUT',
          ...(!isRead(field) && { outcome: 'UNKNOWN' }),
        });
      }),
    );
    expect(gateway.service.requests).toHaveLength(fields.length);
  });

  describe.each(fields.map((field) => [`${nameOf(field)} (${field.endpoint})`, field] as const))('%s', (_, field) => {
    const [method = '', route = ''] = field.endpoint.split(' ');
    const document = documentOf(field);
    const success: Script = ({ path }) =>
      path === OTHER_PATH
        ? { body: { data: workflow() } }
        : field.body === undefined
          ? { status: 204 }
          : { body: field.body };
    /** Returns one of the gateways of all fields, with another script and without requests. */
    const reset = (gateway: GatewayWithService, script: Script = success) => {
      gateway.service.script = script;
      gateway.service.forget();
      gateway.advance(60); // Retries are limited per second, and a circuit breaker closes again.
      return gateway;
    };
    const run = (gateway: GatewayWithService, request?: Parameters<typeof runField>[2]) =>
      runField(gateway, field, request);

    it('sends one call with the key of its caller, which is reported, explained, counted and audited', async () => {
      const gateway = reset(usual);
      const { service, log } = gateway;
      const count = async () => metricValues(await gateway.metrics(), /^notigraph_upstream_requests_total/);
      const [counted, audited] = [await count(), await readAudit()];
      expect(await run(gateway).then(succeeded)).toBe(true);
      expect(service.calls()).toEqual([callOf(field)]);
      expect(service.requests[0]?.headers).toMatchObject({
        authorization: 'ApiKey key-1',
        host: service.url.slice('http://'.length),
      });
      expect(log.findLast(({ msg }) => msg === 'operation')).toMatchObject({ upstreamCalls: 1 });
      const metric = `notigraph_upstream_requests_total{method="${method}",route="${route}",result="2xx"}`;
      expect(await count()).toEqual({ ...counted, [metric]: (counted[metric] ?? 0) + 1 });
      const lines = (await readAudit()).slice(audited.length).map((text) => JSON.parse(text));
      const line = { field: nameOf(field), method, route, outcome: 'APPLIED' };
      expect(lines).toMatchObject(isRead(field) ? [] : [line]);

      const variables = hasId(field) ? { id: 'r2' } : {};
      const reported = await gateway.send(document, variables, { extensions: { upstream: true } });
      const coordinate = field.caller ?? `${isRead(field) ? 'Query' : 'Mutation'}.${nameOf(field)}`;
      expect(reported.body.extensions?.upstream).toMatchObject({ calls: 1, retries: 0, fields: { [coordinate]: 1 } });
      service.forget();
      const explained = await gateway.send(document, variables, { extensions: { explain: true } });
      expect(explained.body.extensions?.explain).toMatchObject({
        calls: expect.arrayContaining([expect.objectContaining({ method, route, min: 1, max: 1 })]),
      });
      expect(service.requests).toHaveLength(0);
    });

    if (hasId(field)) {
      it('sends an id as one encoded segment, and rejects those that a path can’t have', async () => {
        const gateway = reset(usual);
        for (const id of ['x?y=1#f', 'a%41b', '100%', '...', '😀']) {
          gateway.service.forget();
          await run(gateway, { id });
          expect(gateway.service.calls()).toEqual([callOf(field, id)]);
        }
        gateway.service.forget();
        const [, idInput] = /(\w+): \$id/.exec(field.text) ?? [];
        for (const [name, id] of Object.entries({ ...REFUSED_IDS, ...IDS_WITH_SLASHES })) {
          const { result, error } = await run(gateway, { id });
          if (isRead(field)) {
            expect(error, name).toMatchObject({ code: 'BAD_USER_INPUT', retryable: false });
            expect(error, name).not.toHaveProperty('upstream');
          } else {
            expect(result, name).toMatchObject({
              __typename: 'InvalidInputError',
              issues: [{ path: ['input', idInput] }],
            });
          }
        }
        expect(gateway.service.requests).toHaveLength(0);
      });
    }

    it('is sent again only if that can’t apply it twice', async () => {
      const { isRepeatable = isRead(field), isIdempotent = false } = field;
      const headers = { 'idempotency-key': 'k1' };
      const unaware = reset(retrying, fail(503));
      await run(unaware, { headers });
      expect(unaware.service.requests).toHaveLength(isRepeatable ? 2 : 1);
      const aware = reset(retryingWithKeys, fail(503));
      await run(aware);
      expect(aware.service.requests).toHaveLength(isRepeatable ? 2 : 1);
      aware.service.forget();
      const { error } = await run(aware, { headers });
      const keys = aware.service.requests.map((request) => request.headers['idempotency-key']);
      expect(keys).toHaveLength(isRepeatable || isIdempotent ? 2 : 1);
      expect(new Set(keys)).toEqual(new Set([isIdempotent ? expect.stringMatching(/^[0-9a-f]{64}$/) : undefined]));
      expect(error?.outcome).toBe(isRead(field) ? undefined : 'UNKNOWN');
    });

    it('is not sent while the circuit breaker is open', async () => {
      const gateway = reset(breaking);
      expect(await run(gateway).then(succeeded)).toBe(true); // Closes it, some time after the test before.
      reset(gateway, fail(503));
      await run(gateway, { key: 'a' });
      await run(gateway, { key: 'b' });
      expect(gateway.service.requests).toHaveLength(2);
      expect((await run(gateway, { key: 'c' })).error).toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
        ...(!isRead(field) && { outcome: 'NOT_APPLIED' }),
      });
      expect(gateway.service.requests).toHaveLength(2);
    });

    it('waits while its key has as many calls in flight as it may have', async () => {
      const gateway = reset(narrow);
      const held = gateway.service.hold(`GET ${OTHER_PATH}`);
      const first = gateway.run(`{ ${OTHER} }`, 'a');
      await held.arrived;
      const waiting = run(gateway, { key: 'a' });
      expect(await run(gateway, { key: 'b' }).then(succeeded)).toBe(true);
      expect(gateway.service.requests).toHaveLength(2);
      held.release();
      expect(await first).toEqual({ workflow: { __typename: 'Workflow' } });
      expect(await waiting.then(succeeded)).toBe(true);
      expect(gateway.service.requests).toHaveLength(3);
    });

    it(
      isRead(field) ? 'shares its call with identical reads of its key' : 'shares its call with no other',
      async () => {
        const gateway = reset(usual);
        await gateway.accept('a');
        const held = gateway.service.hold(undefined, 3);
        const first = run(gateway, { key: 'a' });
        await held.arrived;
        const others = [run(gateway, { key: 'a', text: documentOf(field, '', 'again') }), run(gateway, { key: 'b' })];
        const requests = isRead(field) ? 2 : 3;
        await gateway.service.arrived(requests);
        await gateway.run('{ __typename }', 'a');
        held.release();
        const results = await Promise.all([first, ...others]);
        expect(results.map(succeeded)).toEqual([true, true, true]);
        expect(gateway.service.requests).toHaveLength(requests);
      },
    );

    it('counts toward the calls of its operation', async () => {
      const gateway = reset(narrow);
      const before = isRead(field) ? OTHER : `before: ${field.text} { __typename }`;
      const { error } = await run(gateway, { text: documentOf(field, before) });
      expect(error).toMatchObject({ code: 'BUDGET_EXCEEDED', ...(!isRead(field) && { outcome: 'NOT_APPLIED' }) });
      expect(gateway.service.requests).toHaveLength(1);
    });

    if (isRead(field)) {
      it('is null without such a record, but not if the service lacks the endpoint', async () => {
        const { result, error } = await run(reset(usual, fail(404)));
        expect([result, error?.code]).toEqual([
          field.absent ?? null,
          field.endpoint.includes('{') ? undefined : 'UPSTREAM_BAD_RESPONSE',
        ]);
      });
      return;
    }
    const { returns = [] } = field;
    it.each([
      [400, 'InvalidInputError'],
      [422, 'InvalidInputError'],
      [404, returns.find((name) => name === 'NotFoundError')],
      [409, returns.find((name) => name === 'ConflictError')],
      [403, undefined],
      [500, undefined],
    ])('with status %i has a result that a client can act on (%s), or an error with its outcome', async (...row) => {
      const [status, returned] = row;
      const { result, error } = await run(reset(usual, fail(status)));
      const { notFoundMessage = 'No.' } = field;
      const message = returned === 'NotFoundError' ? notFoundMessage : 'No.';
      expect(result).toEqual(
        returned === undefined ? null : expect.objectContaining({ __typename: returned, message }),
      );
      expect(error?.outcome).toBe(returned === undefined ? (status < 500 ? 'NOT_APPLIED' : 'UNKNOWN') : undefined);
    });
  });
}
