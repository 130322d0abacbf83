import { expect, it, vi } from 'vitest';
import { startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { createGateway } from '../../src/gateway.ts';
import { guards } from '../support/guards.ts';
import { type ServiceResponse, startService } from '../support/service.ts';

guards('src/upstream/transport/probe.ts', 'findProblem');

/** Returns the result of the check, and the requests it sent. */
async function check(answer: ServiceResponse, path = '') {
  await using upstream = await startService(() => answer);
  await using gateway = createGateway({ upstream: `${upstream.url}${path}` });
  const problem = await gateway.checkUpstream();
  return { problem, requests: upstream.requests };
}

const HTML = { 'content-type': 'text/html; charset=utf-8' };

it.each<[string, ServiceResponse]>([
  ['401 in JSON', { status: 401, body: { statusCode: 401, message: 'Unauthorized' } }],
  ['403', { status: 403, body: {} }],
  ['429', { status: 429, body: {} }],
  ['a list of records', { body: { data: [{ _id: '1', name: 'a' }] } }],
  ['a very long list', { body: { data: [{ name: 'x'.repeat(2_000_000) }] } }],
])('a service that responds with %s to a read without a key passes the check', async (_, answer) => {
  const { problem, requests } = await check(answer, '/prefix/');
  expect(problem).toBeUndefined();
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /prefix/v1/notification-groups']);
  expect(requests[0]?.headers).not.toHaveProperty('authorization');
});

it.each<[string, ServiceResponse, RegExp]>([
  [
    'a website',
    { headers: HTML, body: '<!doctype html>' },
    /^The upstream responds with HTML instead of JSON: .+\/v1\.$/,
  ],
  [
    'a sign-in page',
    { status: 401, headers: HTML, body: '<form>' },
    /^The upstream responds with HTML instead of JSON/,
  ],
  [
    'a redirect',
    { status: 302, headers: { location: 'https://login.example/?canary' } },
    /^The upstream redirects to https:\/\/login\.example, /,
  ],
  [
    'a redirect to itself',
    { status: 301, headers: { location: '/login?canary' } },
    /^The upstream redirects to another page, /,
  ],
  [
    'a redirect to what is no address',
    { status: 302, headers: { location: 'http://[canary' } },
    /^The upstream redirects to another page, /,
  ],
  ['a redirect to nowhere', { status: 304 }, /^The upstream redirects to another page, /],
  [
    'another API',
    { status: 404, body: { message: 'canary' } },
    /^The upstream has no \/v1\/notification-groups: it responds with status 404\. /,
  ],
  ['an API with other methods', { status: 405, body: {} }, /^The upstream has no .+ it responds with status 405\. /],
  ['an API of the past', { status: 410, body: {} }, /^The upstream has no .+ it responds with status 410\. /],
  ['an outage', { status: 503, body: {} }, /^The upstream is failing: it responds with status 503\.$/],
  [
    'JSON without a list',
    { body: { status: 'canary' } },
    /^The response of the upstream to GET \/v1\/notification-groups doesn't match the contract/,
  ],
  ['text', { headers: { 'content-type': 'text/plain' }, body: 'canary' }, /doesn't match the contract/],
])('%s gets a warning that says what to do', async (_, answer, warning) => {
  const { problem } = await check(answer);
  expect(problem).toMatch(warning);
  expect(problem).not.toContain('canary');
});

it('the sandbox passes the check, and a server that is gone is unreachable', async () => {
  const sandbox = await startSandbox();
  await using gateway = createGateway({ upstream: sandbox.url });
  expect(await gateway.checkUpstream()).toBeUndefined();
  await sandbox.close();
  expect(await gateway.checkUpstream()).toMatch(/^The upstream is unreachable \(\w+\)\.$/);
});

it('a service that does not respond is not said to be unreachable', async () => {
  await using upstream = await startService(() => {});
  await using gateway = createGateway({ upstream: upstream.url });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const checked = gateway.checkUpstream();
  await upstream.arrived(1);
  vi.advanceTimersByTime(3_000);
  vi.useRealTimers();
  expect(await checked).toBe('The upstream did not respond in time.');
});
