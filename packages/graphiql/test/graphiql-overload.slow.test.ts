import type { Page, Response, Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { startGateway } from '../../../test/support/gateway.ts';
import { openOperation, runOperation, shareGraphiql } from '../../../test/support/graphiql.ts';
import { startService } from '../../../test/support/service.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';

const GRAPHIQL = { authorization: `ApiKey ${SANDBOX_KEYS.development}`, sandbox: true };

const shared = shareGraphiql();

/** Answers the next operations itself, and passes all others to the gateway. Returns those that it has answered. */
async function answerOperations(page: Page, answers: Parameters<Route['fulfill']>[0][]): Promise<unknown[]> {
  const answered: unknown[] = [];
  await page.unrouteAll();
  await page.route('**/graphql', async (route) => {
    const answer = route.request().method() === 'POST' ? answers.shift() : undefined;
    if (answer === undefined) {
      await route.fallback();
      return;
    }
    answered.push(route.request().postDataJSON().operationName);
    await route.fulfill(answer);
  });
  return answered;
}

const busy = (code: string, extensions: object = {}) => ({
  status: 503,
  headers: { 'retry-after': '1' },
  json: { errors: [{ message: 'Later.', extensions: { code, retryable: true, ...extensions } }] },
});

const PROXY = { status: 503, headers: { 'retry-after': '1' }, contentType: 'text/html', body: '<h1>Busy</h1>' };

const REDIRECT = { status: 307, headers: { location: 'https://login.example/' } };

const status = (expected: number) => (response: Response) =>
  response.status() === expected && response.request().method() === 'POST';

it('GraphiQL loads while the gateway sheds load, and loads the schema and runs the operation as soon as it does not', async () => {
  await using upstream = await startService(() => ({ body: { data: [] } }));
  const held = upstream.hold(undefined, Infinity);
  await using full = await startGateway(
    { upstream: upstream.url, graphiql: GRAPHIQL },
    { server: { maxInFlightRequests: 1 } },
  );
  const response = full.send('{ notificationGroups { id } }');
  await held.arrived;
  await using visitor = await shared.visit(full.url);
  const { page } = visitor;
  await page.locator('.notice', { hasText: /The schema is unavailable.+Attempt \d of 5 starts in 1 s\./ }).waitFor();
  await openOperation(page, 'Notification groups');
  await Promise.all([page.waitForResponse(status(503)), runOperation(page)]);
  await page.locator('.response .notice', { hasText: 'Attempt 2 of 5 starts in 1 s. Press Stop to cancel.' }).waitFor();
  held.release();
  await response;
  await page.locator('.result', { hasText: '"notificationGroups": []' }).waitFor();
  await page.locator('.notice').waitFor({ state: 'detached' });
});

it.each([
  ['a mutation that the gateway refused before executing it', 'Create notification group', busy('OVERLOADED'), 2],
  ['a mutation that a proxy may have passed on', 'Create notification group', PROXY, 1],
  [
    'a mutation whose outcome is unknown',
    'Create notification group',
    busy('UPSTREAM_UNAVAILABLE', { outcome: 'UNKNOWN' }),
    1,
  ],
  ['a mutation that a proxy redirects (R53)', 'Create notification group', REDIRECT, 1],
  ['a query that has to wait too long', 'Notification groups', { ...PROXY, headers: { 'retry-after': '60' } }, 1],
])('GraphiQL sends %s as often as is safe', async (_case, operation, answer, times) => {
  const { page, requests } = shared;
  await openOperation(page, operation);
  await answerOperations(page, [answer]);
  const before = requests.length;
  await runOperation(page);
  await page
    .locator('.result, .failure', {
      hasText: times === 1 ? /Later|status 503|was redirected to another address/ : '"data"',
    })
    .waitFor();
  expect(requests.slice(before).filter((request) => request.method() === 'POST')).toHaveLength(times);
});

it('GraphiQL shows the response after five attempts', async () => {
  const { page } = shared;
  await page.getByRole('button', { name: 'Workflow', exact: true }).click();
  const answered = await answerOperations(
    page,
    Array.from({ length: 9 }, () => busy('OVERLOADED')),
  );
  await runOperation(page);
  await page.locator('.error-help', { hasText: 'OVERLOADED' }).waitFor();
  expect(answered).toEqual(Array.from({ length: 5 }, () => 'Workflow'));
  expect(await page.locator('.notice').count()).toBe(0);
});

it('GraphiQL says why it has no schema after five attempts, also before the visitor has entered a key', async () => {
  await using open = await startGateway({ service: 'sandbox', graphiql: true });
  await using visitor = await shared.visit(open.url, {}, (page) =>
    answerOperations(
      page,
      Array.from({ length: 5 }, () => busy('OVERLOADED')),
    ),
  );
  const { page } = visitor;
  await page.locator('.notice', { hasText: 'no docs and no completion: Later.' }).waitFor();
  await page.getByRole('button', { name: 'Refresh schema' }).click();
  await page.locator('.notice').waitFor({ state: 'detached' });
});

it('the button Stop ends the wait, and the next run shows nothing of it', async () => {
  const { page } = shared;
  await page.getByRole('button', { name: 'Workflow', exact: true }).click();
  const answers = [{ ...busy('OVERLOADED'), headers: { 'retry-after': '10' } }];
  const answered = await answerOperations(page, answers);
  await runOperation(page);
  await page.locator('.response .notice', { hasText: 'starts in 10 s' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.locator('.notice', { hasText: /^Stopped\.$/ }).waitFor();
  await runOperation(page);
  await page.locator('.result', { hasText: 'Welcome and onboarding' }).waitFor();
  expect([answered, await page.locator('.notice').count()]).toEqual([['Workflow'], 0]);
});
