import {
  buildSchema,
  getIntrospectionQuery,
  graphql,
  introspectionTypes,
  isObjectType,
  specifiedDirectives,
  specifiedScalarTypes,
} from 'graphql';
import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { layouts } from './example.ts';

guards('src/modules/toolkit/resolvers.ts', 'ownTypesOf');

// The types of introspection belong to graphql, and all schemas of the process share them. A gateway with modules must not change them.

/** Returns the members of an object, without those that graphql computes when it first needs them. */
const membersOf = (object: object) => Object.entries(object).filter(([name]) => !name.startsWith('_'));

/** Returns the members of all objects of graphql that schemas share, and of their fields. */
const sharedMembers = () =>
  [...introspectionTypes, ...specifiedScalarTypes, ...specifiedDirectives].flatMap((shared) => [
    membersOf(shared),
    ...(isObjectType(shared) ? Object.values(shared.getFields()).map(membersOf) : []),
  ]);

it('a gateway with modules changes no type of graphql, so that other schemas of the process can be introspected', async () => {
  const before = sharedMembers().flat();
  const other = buildSchema('type Query { own: Int }');
  const query = getIntrospectionQuery();
  const own = await graphql({ schema: other, source: query });
  // Modules are watched as closely as possible.
  const watched = { modules: [layouts], federation: true };
  await using gateway = await startGateway(
    { service: () => ({ body: { data: [] } }), ...watched },
    {
      onUndeclaredCall: () => {},
    },
  );
  expect(await gateway.data(query)).toMatchObject({ __schema: { queryType: { name: 'Query' } } });
  expect(await graphql({ schema: other, source: query })).toEqual(own);
  const after = sharedMembers().flat();
  const isSame = ([name, value]: [string, unknown], i: number) => name === before[i]?.[0] && value === before[i][1];
  expect(after.filter((member, i) => !isSame(member, i))).toEqual([]);
  expect(after).toHaveLength(before.length);
});
