import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkPackages, ROOT } from '../../../test/support/docs.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { AUTHORIZATION, runOperation, shareGraphiql } from '../../../test/support/graphiql.ts';
import { findPrograms } from '../../../test/support/programs.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';

const run = promisify(execFile);

/** Characters that are special in shells or in JavaScript. */
const HOSTILE = `It's "quoted" \`id\` $(id) \${1} \\n !! é\u2028😀`;

const shared = shareGraphiql({
  viewport: { width: 1280, height: 800 },
  permissions: ['clipboard-read', 'clipboard-write'],
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const readClipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

/** Selects an entry of the menu that copies, and returns what was copied and what the page says. */
async function copyAs(page: Page, item: string): Promise<{ text: string; result: string }> {
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await button(page, 'Copy').click();
  await page.getByRole('menuitem', { name: item }).click();
  const status = page.locator('.editors .toolbar [role=status]');
  await status.filter({ hasText: /opied\./ }).waitFor();
  return { text: await readClipboard(page), result: (await status.textContent()) ?? '' };
}

/** Replaces the text of an editor as a whole, without brackets that the editor adds. */
async function fillEditor(page: Page, area: string, text: string): Promise<void> {
  await page.evaluate((content) => navigator.clipboard.writeText(content), text);
  await page.locator(`${area} .view-lines`).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+v');
}

/** Text of the response, also of its lines that the editor doesn't render. */
async function copyResponse(page: Page): Promise<unknown> {
  await button(page, 'Copy response').click();
  await page.locator('.summary [role=status]', { hasText: 'Copied.' }).waitFor();
  return JSON.parse(await readClipboard(page));
}

describe('the response', () => {
  it('has its status, duration and size, and can be copied', async () => {
    const { page } = shared;
    await button(page, 'Workflow').click();
    const [response] = await Promise.all([
      page.waitForResponse((answer) => answer.request().method() === 'POST'),
      runOperation(page),
    ]);
    const summary = page.locator('.summary p');
    const size = ((await response.body()).byteLength / 1_000).toFixed(1);
    await summary.getByText(/^200 · \d+ ms · /).waitFor();
    expect(await summary.textContent()).toContain(` · ${size} KB`);
    const { data } = await response.json();
    expect(await copyResponse(page)).toEqual({ data });

    await button(page, 'New tab').click();
    await fillEditor(page, '.query', 'query Unknown { unknown }');
    await runOperation(page);
    await summary.getByText(/^400 · \d+ ms · \d+ B$/).waitFor();
    await button(page, 'Close Unknown').click();
    shared.problems.splice(0); // The browser reports the status.
  });

  it('leaves nothing of the previous run below one that is not sent', async () => {
    const { page } = shared;
    const costs = page.locator('.cost-bar');
    const counts = page.locator('.query .field-count');
    await runOperation(page);
    await costs.waitFor();
    await counts.first().waitFor();
    await page.locator('#tool-variables .view-lines').click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText('x');
    await button(page, 'Run').click();
    await page.locator('.result', { hasText: 'Request not sent' }).waitFor();
    expect([await costs.count(), await counts.count()]).toEqual([0, 0]);
    expect(await page.locator('.summary p').textContent()).toBe('');
    await page.locator('#tool-variables .view-lines').click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Delete');

    await button(page, 'Explain').click();
    await page.getByRole('region', { name: 'Plan' }).waitFor();
    await page.getByLabel('API key').fill('');
    await button(page, 'Run').click();
    await page.getByText('Enter your API key to run operations.').waitFor();
    await page.locator('.welcome').waitFor();
    expect(await page.getByRole('region', { name: 'Plan' }).count()).toBe(0);
    await page.getByLabel('API key').fill(SANDBOX_KEYS.development);
    expect(shared.problems).toEqual([]);
  });

  it('of an operation whose tab was left for a new one is not shown there', async () => {
    const { page } = shared;
    const arrived = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const settled = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      arrived.resolve();
      await held.promise;
      await route.continue().catch(() => {}); // The page has aborted it.
      settled.resolve();
    });
    await button(page, 'Run').click();
    await arrived.promise;
    await button(page, 'New tab').click();
    held.resolve();
    await settled.promise;
    await page.unrouteAll();
    await button(page, 'Run').waitFor();
    await page.locator('.welcome').waitFor();
    expect(await page.locator('.cost-bar, .summary').count()).toBe(0);
    await button(page, 'Close New tab').click();
    expect(shared.problems).toEqual([]);
  });
});

describe('copied code', () => {
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

  beforeAll(async () => {
    folder = await createTemporaryFolder();
    await linkPackages(folder.path());
  });

  afterAll(() => folder[Symbol.asyncDispose]());

  /** Runs code as it was copied, and returns what it prints. */
  async function runCode(item: string, code: string): Promise<string> {
    if (item === 'curl command') {
      return (await run('sh', ['-c', `${code} --silent`], { timeout: 60_000 })).stdout;
    }
    const file = folder.path(`${item.replaceAll(' ', '-')}.ts`);
    await writeFile(file, code);
    return (await run(process.execPath, [file], { cwd: folder.path(), timeout: 60_000 })).stdout;
  }

  describe.each([
    ['curl command', findPrograms('curl')],
    ['fetch call', findPrograms()],
    ['Typed client', findPrograms()],
  ])('as a %s', (item, { areThere, note }) => {
    it.runIf(areThere)(`works with any text in the operation and its variables${note}`, async () => {
      const { page } = shared;
      const query = `# ${HOSTILE.replace('\u2028', ' ')}
query Other { __typename }
mutation Create($input: CreateSubscriberInput!) { createSubscriber(input: $input) { ...Type } }
fragment Type on CreateSubscriberResult { __typename }`;
      const input = { subscriberId: 's1', data: { [HOSTILE]: HOSTILE } };
      await button(page, 'New tab').click();
      await fillEditor(page, '.query', query);
      await button(page, 'Other').waitFor(); // GraphiQL has parsed it.
      await page.getByLabel('Operation to run').selectOption('Create');
      const variables = `{ "input": ${JSON.stringify(input)} } // A comment.`;
      await fillEditor(page, '#tool-variables', variables);
      const { text, result } = await copyAs(page, item);
      expect(result).toBe('Copied. ');
      expect(text).toContain(AUTHORIZATION);

      shared.gateway.forget();
      const output = await runCode(item, text);
      expect(output).toContain('CreateSubscriberSuccess');
      const [created] = shared.gateway.upstream('POST /v1/subscribers');
      expect(JSON.parse(created?.body ?? '')).toEqual(input);
      expect(created?.headers.authorization).toBe(AUTHORIZATION);

      await fillEditor(page, '#tool-variables', '{ "input": ');
      await button(page, 'Copy').click();
      await page.getByRole('menuitem', { name: item }).click();
      await page.getByText('Not copied. Variables are invalid JSON').waitFor();
      await button(page, 'Close Create').click();
    });
  });

  it('with the typed client imports a shipped operation with its types', async () => {
    const { page } = shared;
    await button(page, 'Workflow').click();
    const { text } = await copyAs(page, 'Typed client');
    expect(text).toContain('import { createClient, WorkflowDocument } from "notigraph/client";');
    expect(await runCode('Typed client', text)).toContain("name: 'Welcome and onboarding'");

    const program = folder.path('program.ts');
    const compile = (code: string) =>
      writeFile(program, code).then(() =>
        run(
          process.execPath,
          [
            join(ROOT, 'node_modules/typescript-7/bin/tsc'),
            ...['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions'],
            ...['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2024,dom,esnext.disposable'],
            ...['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node', program],
          ],
          { cwd: folder.path(), timeout: 120_000 },
        ),
      );
    await compile(text);
    const failure = await compile(text.replace('"idOrIdentifier"', '"identifier"')).catch(({ stdout }) => stdout);
    expect(failure).toContain('identifier');
  });

  it('contains no header of the editor, and says so', async () => {
    const { page } = shared;
    await button(page, 'Headers').click();
    await fillEditor(page, '#tool-headers', '{ "X-Secret": "a secret" }');
    for (const item of ['curl command', 'fetch call', 'Typed client']) {
      const { text, result } = await copyAs(page, item);
      expect(text).not.toMatch(/secret/i);
      expect(result).toContain('The headers below the operation are not copied');
    }
    await fillEditor(page, '#tool-headers', ' ');
    await button(page, 'Variables').click();

    await page.getByLabel('API key').fill('Bearer pasted');
    const { text, result } = await copyAs(page, 'curl command');
    expect(text).toContain('"Authorization: Bearer $NOTIGRAPH_TOKEN"');
    expect(text).not.toContain('pasted');
    expect(result).toContain('Set NOTIGRAPH_TOKEN to your token.');
    await page.getByLabel('API key').fill(SANDBOX_KEYS.development);
  });
});

/** Returns the operation in the address of the page. It is no part of what the browser sends. */
const operationOf = ({ hash, search }: URL): URLSearchParams => {
  expect(search).toBe('');
  return new URLSearchParams(hash.slice(1));
};

it('the operation of an address is shown, and never sent with the request for the page', async () => {
  const { page } = shared;
  const requested: string[] = [];
  page.on('request', (request) => void requested.push(request.url()));
  const shows = (text: string) => page.locator('.query .view-lines', { hasText: text }).waitFor();
  await page.goto(`${shared.gateway.url}#query=${encodeURIComponent('query ByHash { __typename }')}`);
  await shows('ByHash');
  await page.reload();
  await shows('ByHash');
  await page.evaluate(() => location.assign(`#query=${encodeURIComponent('query Pasted { __typename }')}`));
  await shows('Pasted');
  expect(requested.filter((url) => url.includes('?query'))).toEqual([]);

  await page.goto(`${shared.gateway.url}?query=${encodeURIComponent('query OldLink { __typename }')}`);
  await shows('OldLink');
  await page.waitForURL(({ search, hash }) => search === '' && hash.includes('OldLink'));
});

it('a link to the operation is copied with a warning, unless it is too long', async () => {
  const { page } = shared;
  await button(page, 'Workflow').click();
  await button(page, 'Copy link').click();
  await page
    .getByText('The link contains the operation and its variables: don’t share it if they are secret.')
    .waitFor();
  const link = new URL(await readClipboard(page));
  expect(link.href).toBe(page.url());
  const operation = operationOf(link);
  expect(operation.get('query')).toContain('query Workflow(');
  expect(operation.get('variables')).toContain('welcome-onboarding');

  await button(page, 'New tab').click();
  await page.keyboard.insertText(`query Long { __typename #${' long'.repeat(1_500)}`);
  await page.evaluate(() => navigator.clipboard.writeText('before'));
  await button(page, 'Copy link').click();
  await page.getByText('Not copied. The operation is too long for a link.').waitFor();
  expect(await readClipboard(page)).toBe('before');
  await button(page, 'Close Long').click();
});

it('the operations have headings and a filter, and Enter opens the first match', async () => {
  const { page } = shared;
  const list = page.getByRole('dialog', { name: 'Operations' });
  const titles = () => list.locator('strong').allTextContents();
  await button(page, 'Operations').click();
  expect(await list.getByRole('heading').allTextContents()).toEqual(['Queries', 'Mutations']);
  const filter = list.getByRole('searchbox', { name: 'Filter operations' });
  await filter.fill('DELETE');
  expect(await list.getByRole('heading').allTextContents()).toEqual(['Mutations']);
  expect(await titles()).toEqual(['Delete feed', 'Delete messages by transaction', 'Delete notification group']);
  await filter.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  expect(await page.locator(':focus').textContent()).toContain('Delete messages by transaction');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await filter.fill('nothing');
  await list.getByText('No operation matches.').waitFor();
  await filter.fill('renames');
  await filter.press('Enter');
  await list.waitFor({ state: 'hidden' });
  await page.waitForURL((url) => operationOf(url).get('query')?.includes('mutation UpdateNotificationGroup') === true);
  await button(page, 'Close Update notification group').click();

  await button(page, 'Operations').click();
  expect(await filter.inputValue()).toBe('');
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'hidden' });
});

it('the sandbox’s key can be filled in again', async () => {
  const { page } = shared;
  const key = page.getByLabel('API key');
  const restore = button(page, 'Use the sandbox’s key');
  expect(await restore.count()).toBe(0);
  await key.fill('');
  await restore.click();
  expect(await key.inputValue()).toBe(SANDBOX_KEYS.development);
  expect(await key.evaluate((input) => input === document.activeElement)).toBe(true);

  await using real = await startGateway({ service: 'sandbox', graphiql: { authorization: AUTHORIZATION } });
  await using other = await shared.visit(real.url);
  await other.page.getByLabel('API key').fill('');
  await other.page.getByText('Kept until you close the page').waitFor();
  expect(await button(other.page, 'Use the sandbox’s key').count()).toBe(0);
});

it('a tab keeps its title if it is left at once', async () => {
  const { page } = shared;
  const titles = page.locator('.tabs .tab');
  const before = await titles.allTextContents();
  for (const name of ['First', 'Second']) {
    await button(page, 'New tab').click();
    await fillEditor(page, '.query', `query ${name} { __typename }`);
    await button(page, name).waitFor();
  }
  await page.evaluate(async () => {
    for (const name of ['Close Second', 'New tab']) {
      document.querySelector<HTMLElement>(`[aria-label="${name}"]`)?.click();
      await new Promise(requestAnimationFrame); // React has rendered, but GraphiQL has not parsed the operation yet.
    }
  });
  await button(page, 'Close New tab').waitFor();
  expect(await titles.allTextContents()).toEqual([...before, 'First', 'New tab']);
  await button(page, 'Close New tab').click();
  await button(page, 'Close First').click();
});

it('the history says what will be in it, and has only what was sent, with its text', async () => {
  await using other = await shared.visit();
  const { page } = other;
  const items = page.locator('.graphiql-history-item-label');
  await button(page, 'History').click();
  const note = page.getByText('The last 20 operations that you run appear here.');
  await note.waitFor();
  await button(page, 'Workflow').click();
  await button(page, 'Explain').click();
  await page.getByRole('region', { name: 'Plan' }).waitFor();
  await page.getByLabel('API key').fill('');
  await button(page, 'Run').click();
  await page.getByText('Enter your API key to run operations.').waitFor();
  expect(await items.count()).toBe(0);
  await button(page, 'Use the sandbox’s key').click();
  const sent = (await runOperation(page)).postDataJSON();
  await items.first().waitFor();
  const stored = await page.evaluate(() => localStorage.getItem('notigraph:queries') ?? '');
  const [item] = JSON.parse(stored).queries;
  expect([item.query, JSON.parse(item.variables)]).toEqual([sent.query, sent.variables]);
  expect([await items.count(), await note.count()]).toEqual([1, 0]);
});

it('no line of an example is cut off', async () => {
  const { page } = shared;
  expect(page.viewportSize()?.width).toBe(1280);
  for (const name of ['Workflow', 'Notification stats']) {
    await button(page, name).click();
    await page.locator('.query .view-line', { hasText: /^query/ }).waitFor();
    const edge = await page.locator('.query').evaluate((area) => area.getBoundingClientRect().right);
    const lines = await page
      .locator('.query .view-line > span')
      .evaluateAll((all) => all.map((line) => line.getBoundingClientRect().right));
    expect(Math.max(...lines)).toBeGreaterThan(edge / 2);
    expect(lines.filter((right) => right > edge)).toEqual([]);
  }
});

describe('the keyboard shortcuts', () => {
  it.each(['Control+Enter', 'Meta+Enter'])('%s runs the operation wherever the focus is', async (keys) => {
    const { page } = shared;
    await button(page, 'Workflow').click();
    for (const target of ['body', 'input[aria-label="API key"]', '.tabs .active .tab']) {
      await page.evaluate('document.activeElement.blur()');
      const request = page.waitForRequest((sent) => sent.postData()?.includes('query Workflow(') === true);
      await page.locator(target).first().press(keys);
      await request;
      await button(page, 'Run').waitFor();
    }
  });

  it('are listed completely', async () => {
    const { page } = shared;
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await button(page, 'Keyboard shortcuts').click();
    expect(await list.locator('kbd').allTextContents()).toEqual([
      ...['Ctrl-Enter', 'Shift-Ctrl-Enter', 'Shift-Ctrl-P', 'Shift-Ctrl-M', 'Shift-Ctrl-C', 'Ctrl-Space'],
      ...['Ctrl-F', 'Ctrl-Alt-K', 'F1'],
    ]);
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
  });

  it('work', async () => {
    const { page } = shared;
    const operation = () => copyAs(page, 'Operation').then(({ text }) => text);
    const press = async (keys: string) => {
      await page.locator('.query .view-lines').click();
      await page.keyboard.press(keys);
    };
    await button(page, 'New tab').click();
    await fillEditor(
      page,
      '.query',
      'query Groups { notificationGroups { ...G } } fragment G on NotificationGroup { id }',
    );
    await button(page, 'Groups').waitFor(); // GraphiQL has parsed it.
    await press('Control+Shift+M');
    expect(await operation()).not.toContain('fragment');
    await fillEditor(page, '.query', 'query Groups { notificationGroups { id } }');
    await press('Control+Shift+P');
    await page.locator('.query .view-line').nth(4).waitFor();
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await press('Control+Shift+C');
    await expect.poll(() => readClipboard(page)).toContain('query Groups {\n');
    await press('Control+Enter');
    await page.locator('.result', { hasText: 'notificationGroups' }).waitFor();

    await button(page, 'Docs').click();
    await page.getByText('Root Types').waitFor();
    await press('Control+Alt+K');
    await page.locator('.docs input:focus').waitFor();
    await button(page, 'Close Documentation Explorer').click();
    await button(page, 'Close Groups').click();
    expect(shared.problems).toEqual([]);
  });
});
