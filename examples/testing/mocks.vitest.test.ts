import { setupServer } from 'msw/node';
import { createClient, WorkflowsDocument } from 'notigraph/client';
import { gatewayError, mocks } from 'notigraph/testing/msw';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

const notigraph = createClient({ url: 'https://graphql.example.com/graphql', retries: false });

/** The function of the app to test. */
async function listNames(...idsOrIdentifiers: string[]): Promise<string> {
  const { data, errors } = await notigraph.request(WorkflowsDocument, { idsOrIdentifiers });
  return errors?.[0]?.message ?? data?.workflows?.map((workflow) => workflow?.name ?? 'unknown').join(', ') ?? '';
}

const server = setupServer();
beforeAll(() => server.listen());
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

test('shows unknown workflows', async () => {
  server.use(
    mocks.Workflows(({ variables }) => ({
      data: { workflows: [variables.idsOrIdentifiers].flat().map(() => null) },
    })),
  );
  expect(await listNames('a', 'b')).toBe('unknown, unknown');
});

test('shows why nothing could be loaded', async () => {
  server.use(
    mocks.Workflows(() => ({ errors: [gatewayError('OVERLOADED', { message: 'Busy.', retryAfterSeconds: 1 })] })),
  );
  expect(await listNames('a')).toBe('Busy.');
});
