import { GraphQLError, Kind, parse, visit } from 'graphql';
import { type Plugin, useExtendContext } from 'graphql-yoga';
import { describe, expect, it } from 'vitest';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import type { GatewayContext } from '../../src/graphql/context.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';

guards('src/documents/engine.ts', 'checkPlugin');

type HostPlugin = Plugin<GatewayContext>;

const start = (...plugins: NonNullable<GatewayOptions['plugins']>) => startGateway({ service: 'healthy', plugins });

const GROUPS = '{ notificationGroups { name } }';
const CREATE = 'mutation { createFeed(input: { name: "By a plugin" }) { __typename } }';

describe('the hooks of a host plugin', () => {
  it('run in order for every operation, including the first', async () => {
    const calls: string[] = [];
    const plugin: HostPlugin = {
      onParse: () => {
        calls.push('parse');
        return () => void calls.push('parsed');
      },
      onValidate: () => {
        calls.push('validate');
        return () => void calls.push('validated');
      },
      onContextBuilding: () => void calls.push('context'),
      onExecute: () => {
        calls.push('execute');
        return { onExecuteDone: () => void calls.push('executed') };
      },
    };
    await using gateway = await start(plugin);
    const once = ['parse', 'parsed', 'validate', 'validated', 'context', 'execute', 'executed'];
    for (let i = 0; i < 6; i += 1) {
      await gateway.data(GROUPS);
      expect(calls.splice(0)).toEqual(once);
    }
  });

  it('run for ready-made plugins too, whose types don’t have the gateway’s context', async () => {
    const names: unknown[] = [];
    const ready: Plugin = {
      onExecute: ({ args }) => void names.push(Reflect.get(args.contextValue, 'name')),
    };
    await using gateway = await start(
      useExtendContext(() => ({ name: 'Ready-made' })),
      ready,
    );
    await gateway.data(GROUPS);
    expect(names).toEqual(['Ready-made']);
  });

  it('are wrapped by instrumentation', async () => {
    const spans: string[] = [];
    const span =
      (name: string) =>
      <T>(_: unknown, wrapped: () => T): T => {
        spans.push(name);
        return wrapped();
      };
    const plugin: HostPlugin = {
      instrumentation: {
        init: span('init'),
        parse: span('parse'),
        validate: span('validate'),
        context: span('context'),
        execute: span('execute'),
      },
    };
    await using gateway = await start(plugin);
    await gateway.data(GROUPS);
    expect(spans).toEqual(['init', 'parse', 'validate', 'context', 'execute']);
  });

  it('can read the request and its parameters in the context, and extend it', async () => {
    const contexts: unknown[] = [];
    const read = (context: GatewayContext) => {
      const { request, params } = context;
      const { pathname } = new URL(request.url);
      contexts.push([request.method, pathname, request.headers.get('x-tenant'), params, Reflect.get(context, 'added')]);
    };
    const adding: HostPlugin = {
      onParse: ({ context }) => void read(context),
      onContextBuilding: ({ extendContext }) => extendContext({ added: 7 } as object),
    };
    await using gateway = await start(adding, { onExecute: ({ args }) => void read(args.contextValue) });
    const query = 'query Flow($id: ID!) { workflow(idOrIdentifier: $id) { name } }';
    await gateway.data(query, { id: 'payment-failed' }, { headers: { 'x-tenant': 'acme' } });
    const params = expect.objectContaining({ query, variables: { id: 'payment-failed' } });
    expect(contexts).toEqual([undefined, 7].map((added) => ['POST', '/graphql', 'acme', params, added]));
  });

  it('can replace a document, which is then checked against the limits', async () => {
    const huge = parse(`{ notificationGroups { ${Array.from({ length: 600 }, () => 'name').join(' ')} } }`);
    const plugin: HostPlugin = {
      onParse:
        () =>
        ({ replaceParseResult }) =>
          replaceParseResult(huge),
    };
    await using gateway = await start(plugin);
    const { status, codes } = await gateway.send('{ __typename }');
    expect([status, codes]).toEqual([400, ['DOCUMENT_LIMIT_EXCEEDED']]);
    expect(gateway.service.requests).toHaveLength(0);
  });

  it('can replace a document, which is then executed', async () => {
    const plugin: HostPlugin = {
      onParse:
        () =>
        ({ result, replaceParseResult }) =>
          replaceParseResult(
            visit(result as ReturnType<typeof parse>, {
              Field: (node) =>
                node.name.value === 'name' ? { ...node, name: { kind: Kind.NAME, value: 'id' } } : undefined,
            }),
          ),
    };
    await using gateway = await start(plugin);
    const { notificationGroups } = await gateway.data<{ notificationGroups: object[] }>(GROUPS);
    expect(Object.keys(notificationGroups[0] ?? {})).toEqual(['id']);
  });

  it('can replace a result', async () => {
    const plugin: HostPlugin = {
      onExecute: ({ setResultAndStopExecution }) =>
        setResultAndStopExecution({ data: { canned: true }, extensions: { from: 'plugin' } }),
    };
    await using gateway = await start(plugin);
    const { status, body } = await gateway.send(GROUPS);
    expect([status, body]).toEqual([200, { data: { canned: true }, extensions: { from: 'plugin' } }]);
    expect(gateway.service.requests).toHaveLength(0);
  });
});

describe('an error of a host plugin', () => {
  const failing = (error: unknown): HostPlugin => ({
    onExecute() {
      throw error;
    },
  });

  it('is returned with its code, status and headers if it is a GraphQL error', async () => {
    const http = { status: 402, headers: { 'X-Plan': 'free' } };
    await using gateway = await start(
      failing(new GraphQLError('Pay first.', { extensions: { code: 'PAYMENT', http } })),
    );
    const { status, headers, body } = await gateway.send(GROUPS);
    expect(status).toBe(402);
    expect(headers.get('x-plan')).toBe('free');
    expect(body.errors).toEqual([
      { message: 'Pay first.', extensions: { code: 'PAYMENT', retryable: false, requestId: expect.any(String) } },
    ]);
  });

  it('is masked and logged once if it is anything else', async () => {
    await using gateway = await start(failing(new Error('a secret of the plugin')));
    const { status, body, codes } = await gateway.send(GROUPS);
    expect([status, codes]).toEqual([500, ['INTERNAL_SERVER_ERROR']]);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(gateway.log.filter(({ level }) => level === 50)).toHaveLength(1);
  });

  it('reports a mutation as not applied if nothing was sent', async () => {
    await using gateway = await start(failing(new Error('before')));
    const { body } = await gateway.send(CREATE);
    expect(body.errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR', outcome: 'NOT_APPLIED' } }]);
    expect(gateway.service.requests).toHaveLength(0);
  });

  it.each([new Error('after'), new GraphQLError('after', { extensions: { code: 'AFTER' } })])(
    'reports the outcome of a mutation as unknown once it was sent (%s)',
    async (error) => {
      const plugin: HostPlugin = {
        onExecute: () => ({
          onExecuteDone() {
            throw error;
          },
        }),
      };
      await using gateway = await start(plugin);
      const { body } = await gateway.send(CREATE);
      expect(body.errors).toMatchObject([{ extensions: { outcome: 'UNKNOWN' } }]);
      expect(gateway.service.requests).toHaveLength(1);
    },
  );

  it('in parsing or validation rejects the operation', async () => {
    const plugin: HostPlugin = {
      onValidate({ setResult }) {
        setResult([new GraphQLError('Not on Sundays.', { extensions: { code: 'SUNDAY' } })]);
      },
    };
    await using gateway = await start(plugin);
    const { status, codes } = await gateway.send(GROUPS);
    expect([status, codes]).toEqual([400, ['SUNDAY']]);
    expect(gateway.service.requests).toHaveLength(0);
  });
});

describe('createGateway rejects a plugin', () => {
  const create = (plugin: object) => () => createGateway({ upstream: 'http://127.0.0.1:1', plugins: [plugin] });

  it.each(['onRequest', 'onParams', 'onExecutionResult', 'onResponse', 'onSubscribe'])(
    'with the unsupported hook %s',
    (hook) => {
      expect(create({ [hook]() {} })).toThrow(TypeError);
      expect(create({ [hook]() {} })).toThrow(hook);
    },
  );

  it.each(['request', 'operation', 'subscribe'])('with the unsupported instrumentation %s', (name) => {
    expect(create({ instrumentation: { [name]() {} } })).toThrow(`instrumentation.${name}`);
  });

  it('that adds one of these, directly or through another plugin', () => {
    const adding = (added: object): HostPlugin => ({ onPluginInit: ({ addPlugin }) => addPlugin(added) });
    expect(create(adding({ onParams() {} }))).toThrow('onParams');
    expect(create(adding(adding({ onResponse() {} })))).toThrow('onResponse');
    expect(create(adding({ onParse() {} }))).not.toThrow();
  });
});
