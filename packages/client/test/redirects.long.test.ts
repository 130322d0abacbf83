import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from '../../../test/support/browser.ts';
import { guards } from '../../../test/support/guards.ts';
import { listen } from '../../../test/support/listen.ts';

guards('packages/client/src/result.ts', 'findRedirect');

const SOURCES = new URL('../src/', import.meta.url);

it('a page learns that its request was redirected, which browsers hide, and nothing reaches the target (R53)', async () => {
  const targeted: (string | undefined)[] = [];
  const target = await listen(createServer((request, response) => response.end(targeted.push(request.url))));
  onTestFinished(() => target.close());
  const server = createServer(async ({ url = '/' }, response) => {
    if (url === '/') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>App</title>');
    } else if (url === '/graphql') {
      response.writeHead(307, { location: `${target.url}/login` }).end();
    } else {
      const source = await readFile(new URL(`.${url}`, SOURCES), 'utf8');
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(stripTypeScriptTypes(source));
    }
  });
  const app = await listen(server);
  onTestFinished(() => app.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(app.url);

  const failure = await page.evaluate(async () => {
    const path = '/client.ts';
    const { createClient }: typeof import('../src/client.ts') = await import(path);
    const notigraph = createClient({ url: '/graphql', authorization: 'Bearer token' });
    return notigraph.request('{ __typename }').catch(({ name, code, status, outcome, message }) => {
      return { name, code, status, outcome, message };
    });
  });
  expect(failure).toEqual({
    name: 'UnexpectedResponseError',
    code: 'REDIRECTED',
    status: 0,
    outcome: 'NOT_APPLIED',
    message:
      "The request was redirected to an address that isn't known here; use the GraphQL endpoint's own address as url.",
  });
  expect(targeted).toEqual([]);
});
