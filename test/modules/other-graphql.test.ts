import { type DefinitionNode, Kind } from 'graphql';
import { GraphQLError } from 'graphql-17';
import type { Plugin } from 'graphql-yoga';
import { beforeAll, expect, it } from 'vitest';
import { defineModule } from '../../src/modules/index.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';

// Modules and plugins can have another copy of graphql than the gateway: Vitest, for one, loads the ES modules of the package for tests. A GraphQLError
// of theirs is no instance of the gateway's class.

const errorOf = (message: string) => new GraphQLError(message, { extensions: { code: 'OWN' }, path: ['far'] });

const module = defineModule('other', ({ builder, declareCalls, endpoint, mutation, requireScopes, scalar }) => {
  const Even = scalar('Even', {
    parseValue(value) {
      if (Number(value) % 2 !== 0) {
        throw new GraphQLError('Even numbers are 0, 2, 4, and so on.');
      }
      return Number(value);
    },
    serialize(value: number) {
      throw new GraphQLError(`${value} is not even.`);
    },
  });
  const extensions = { ...requireScopes('other:read'), ...declareCalls('1') }; // So that no read tries the key.
  builder.queryField('thrown', (t) =>
    t.int({
      extensions,
      nullable: true,
      resolve() {
        throw errorOf('Thrown by a resolver.');
      },
    }),
  );
  builder.queryField('even', (t) =>
    t.field({
      type: Even,
      extensions,
      nullable: true,
      args: { value: t.arg({ type: Even, required: true }) },
      resolve: (_, { value }) => value + 1,
    }),
  );
  mutation('write', {
    description: 'Writes, and throws.',
    scope: 'other:write',
    endpoint: endpoint('POST /v1/other').returns<object>(),
    async resolve(_input, send) {
      await send({});
      throw errorOf('Thrown after the write.');
    },
    success: {
      description: 'It is done.',
      fields: (t) => ({ done: t.boolean({ description: 'Always true.', resolve: () => true }) }),
    },
  });
});

const nameOf = ([node]: readonly DefinitionNode[] = []) =>
  node?.kind === Kind.OPERATION_DEFINITION ? node.name?.value : undefined;

const plugin: Plugin = {
  onValidate({ params, setResult }) {
    if (nameOf(params.documentAST?.definitions) === 'Invalid') {
      setResult([errorOf('Rejected by a plugin.')]);
    }
  },
  onExecute({ args }) {
    if (nameOf(args.document.definitions) === 'Refused') {
      throw new GraphQLError('Pay first.', { extensions: { code: 'PAYMENT', http: { status: 402 } } });
    }
  },
};

let gateway: GatewayWithService;
beforeAll(async () => {
  gateway = await startGateway({ service: () => ({ body: { data: {} } }), modules: [module], plugins: [plugin] });
  return () => gateway[Symbol.asyncDispose]();
});

it.each([
  ['a resolver throws', '{ thrown }', 200, { message: 'Thrown by a resolver.', path: ['thrown'] }, 'OWN'],
  [
    'a mutation throws after its write',
    'mutation { write { __typename } }',
    200,
    { message: expect.stringMatching(/^Thrown after the write\. ./), path: ['write'] },
    'OWN',
  ],
  [
    'a scalar rejects an argument with',
    'query ($value: Even!) { even(value: $value) }',
    400,
    { message: expect.stringMatching(/; Even numbers are 0, 2, 4, and so on\.$/) },
    'BAD_USER_INPUT',
  ],
  [
    'a scalar rejects a value of the service with',
    '{ even(value: 2) }',
    200,
    { message: 'The notification service sent an invalid value for this field.' },
    'UPSTREAM_BAD_RESPONSE',
  ],
  ['a plugin throws', 'query Refused { thrown }', 402, { message: 'Pay first.' }, 'PAYMENT'],
  ['a plugin rejects a document with', 'query Invalid { thrown }', 400, { message: 'Rejected by a plugin.' }, 'OWN'],
])('clients see a GraphQLError of another copy of graphql that %s', async (_, query, status, error, code) => {
  const response = await gateway.send(query, { value: 3 });
  expect({ status: response.status, errors: response.body.errors }).toMatchObject({
    status,
    errors: [{ ...error, extensions: { code, ...(query.startsWith('mutation') && { outcome: 'UNKNOWN' }) } }],
  });
});
