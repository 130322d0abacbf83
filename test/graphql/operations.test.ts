import { Kind, parse, print, visit } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { loadOperations } from '../../src/documents/shipped-operations.ts';
import { isRecord } from '../../src/lib/is-record.ts';
import { createSchema } from '../../src/modules/schema.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { shippedModules } from '../support/shipped-documents.ts';

let gateway: GatewayWithService;
beforeAll(async () => {
  gateway = await startGateway({ service: 'sandbox' });
  return () => gateway[Symbol.asyncDispose]();
});

it.each(loadOperations())('the shipped operation $name succeeds on the sandbox with its example', async (operation) => {
  gateway.forget();
  const data = await gateway.data(operation.query, JSON.parse(operation.variables ?? '{}'));

  expect(JSON.stringify(data)).not.toContain('"message"'); // No member of a result union that reports a failure.
  expect(Object.values(data)).not.toContain(null);
  const cost = gateway.upstream().map(({ method, path }) => `${method} ${path}`);
  const { true: open = [], false: exact = [] } = Object.groupBy(operation.calls, (call) => String(call.endsWith('*')));
  const isOpen = (call: string) => open.some((pattern) => call.startsWith(pattern.slice(0, -1)));
  expect(cost.filter((call) => !isOpen(call)).toSorted()).toEqual(exact.toSorted());
  const others = cost.filter(isOpen);
  expect(new Set(others).size).toBe(others.length);
  expect(others.length).toBeGreaterThanOrEqual(open.length);
});

it('every operation is named like its file, lists its calls, and has example variables if it takes any', () => {
  const operations = loadOperations();
  expect(operations.length).toBeGreaterThanOrEqual(14);
  for (const { name, query, variables, calls } of operations) {
    const [, parameters] = new RegExp(`^(?:query|mutation) ${name}\\b(\\()?`, 'm').exec(query) ?? [undefined, null];
    expect([name, parameters]).not.toEqual([name, null]);
    expect([name, variables === undefined]).toEqual([name, parameters === undefined]);
    expect([name, calls.length]).not.toEqual([name, 0]);
    expect(query).not.toContain('# Example');
  }
});

it('queries come before mutations, and the first one needs no variables', () => {
  const operations = loadOperations();
  const kinds = operations.map(({ query }) => /^(query|mutation)/m.exec(query)?.[1]);
  expect(kinds).toEqual(kinds.toSorted().toReversed());
  expect(operations[0]?.variables).toBeUndefined();
});

it('every root field is in an operation, also those of each shipped module', () => {
  for (const modules of [[], ...shippedModules.map((module) => [module]), shippedModules]) {
    const schema = createSchema(undefined, modules);
    const rootTypes = [schema.getQueryType(), schema.getMutationType()];
    const selected = loadOperations(schema)
      .flatMap(({ query }) => parse(query).definitions)
      .flatMap((definition) => (definition.kind === 'OperationDefinition' ? definition.selectionSet.selections : []))
      .map((selection) => (selection.kind === 'Field' ? selection.name.value : selection.kind));
    expect(rootTypes.flatMap((type) => Object.keys(type?.getFields() ?? {})).toSorted()).toEqual(
      [...new Set(selected)].toSorted(),
    );
  }
});

it('an id belongs to records of one type, which caches of clients rely on', async () => {
  const typesById = new Map<unknown, Set<unknown>>();
  const collect = (value: unknown): void => {
    if (isRecord(value) && typeof value.id === 'string') {
      typesById.set(value.id, (typesById.get(value.id) ?? new Set()).add(value.__typename));
    }
    for (const child of typeof value === 'object' && value !== null ? Object.values(value) : []) {
      collect(child);
    }
  };
  const withTypes = (query: string) =>
    print(
      visit(parse(query), {
        SelectionSet: (node) => ({
          ...node,
          selections: [...node.selections, { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }],
        }),
      }),
    );
  for (const { query, variables = '{}' } of loadOperations()) {
    collect(await gateway.data(withTypes(query), JSON.parse(variables)));
    collect((await gateway.send(withTypes(query), JSON.parse(variables))).body.data); // A repeated deletion fails.
  }
  expect(typesById.size).toBeGreaterThan(20);
  expect([...typesById].filter(([, types]) => types.size > 1)).toEqual([]);
});
