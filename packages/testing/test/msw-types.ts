// Type tests for `notigraph/testing/msw`. `npm run check:types` fails if a line below `@ts-expect-error` compiles. This file is never run.

import { gql, type TypedDocumentNode } from '@apollo/client';
import { HttpResponse } from 'msw';
import { gatewayError, mockOperation, mocks } from '../src/msw/index.ts';

export const handlers = [
  mocks.NotificationGroups(() => ({ data: { notificationGroups: null } })),
  mocks.Workflow(async ({ variables: { idOrIdentifier } }) => ({
    data: { workflow: null },
    errors: [gatewayError('UPSTREAM_TIMEOUT', { path: ['workflow'], message: String(idOrIdentifier) })],
  })),
  mocks.Workflow(() => HttpResponse.error(), { url: '/graphql', once: true }),
  mocks.DeleteFeed(({ variables }) => ({
    data: {
      deleteFeed: {
        __typename: 'NotFoundError',
        code: 'NOT_FOUND',
        message: `No feed ${variables.input.id}.`,
      },
    },
  })),
  // @ts-expect-error The operation selects other fields.
  mocks.NotificationGroups(() => ({ data: { groups: [] } })),
  // @ts-expect-error A field of the record is missing.
  mocks.NotificationGroups(() => ({ data: { notificationGroups: [{ __typename: 'NotificationGroup', id: '1' }] } })),
  // @ts-expect-error The variable is unknown.
  mocks.Workflow(({ variables }) => ({ data: { workflow: variables.id } })),
  // @ts-expect-error Errors have codes.
  mocks.Workflow(() => ({ errors: [{ message: 'Failed.' }] })),
  // @ts-expect-error A result has data or errors.
  mocks.Workflow(() => ({})),
  // @ts-expect-error The code is unknown.
  mocks.Workflow(() => ({ errors: [gatewayError('NOT_THERE')] })),
  // @ts-expect-error The outcome is unknown.
  mocks.Workflow(() => ({ errors: [gatewayError('UPSTREAM_TIMEOUT', { outcome: 'MAYBE' })] })),
  // @ts-expect-error There is no such operation.
  mocks.Nothing,
];

const Own: TypedDocumentNode<{ own: boolean }, { id: string }> = gql('query Own($id: ID!) { own(id: $id) }');

export const own = [
  mockOperation(Own)(({ variables: { id } }) => ({ data: { own: id === '1' } })),
  // @ts-expect-error The data has the wrong type.
  mockOperation(Own)(() => ({ data: { own: 'yes' } })),
];
