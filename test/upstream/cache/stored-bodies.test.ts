import { pino } from 'pino';
import { expect, it } from 'vitest';
import { SANDBOX_KEYS, startSandbox } from '../../../packages/sandbox/src/sandbox.ts';
import { loadOperations } from '../../../src/documents/shipped-operations.ts';
import { createGateway, createGatewayState } from '../../../src/gateway.ts';
import { fetchFrom } from '../../support/cached-gateway.ts';

function freeze(value: unknown): void {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
}

it('no operation changes a stored body, which others use too', async () => {
  const sandbox = await startSandbox({});
  const logger = pino({ level: 'silent' });
  const state = createGatewayState(logger);
  let stored = 0;
  const open = state.cacheStores.open.bind(state.cacheStores);
  state.cacheStores.open = (...args) => {
    const { resource: store, release } = open(...args);
    const put = store.put.bind(store);
    store.put = (address, lookup, result, lifetimeMs) => {
      freeze(result.body);
      stored += 1;
      return put(address, lookup, result, lifetimeMs);
    };
    return { resource: store, release };
  };
  await using gateway = createGateway({ cache: true, upstream: sandbox.url }, { logger }, state);
  const send = (query: string, variables = '{}') =>
    fetchFrom(gateway, query, { key: SANDBOX_KEYS.development, variables: JSON.parse(variables) });
  for (const { query, variables } of loadOperations()) {
    const first = await send(query, variables);
    expect(first.errors, query).toBeUndefined();
    if (!query.includes('mutation')) {
      expect(await send(query, variables)).toEqual(first);
    }
  }
  expect(stored).toBeGreaterThan(5);
  await sandbox.close();
});
