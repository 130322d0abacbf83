import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './support/gateway.ts';
import { workflow } from './support/records.ts';
import { type ScriptedUpstream, startScriptedUpstream } from './support/scripted-upstream.ts';

/** What one allowed document may hold up all others, in milliseconds. */
const MAX_BLOCK_MS = 50;

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startScriptedUpstream(() => ({ body: { data: workflow() } }));
  gateway = await startGateway({ upstream: upstream.url });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const inWorkflow = (selection: string, rest = '') => `{ workflow(idOrIdentifier: "a") { ${selection} } } ${rest}`;
const times = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');

/** The longest time that the event loop was not free while a document was answered. */
async function blockOf(document: string): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let isRunning = true;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isRunning) {
      setImmediate(look);
    }
  };
  setImmediate(look);
  const { status } = await gateway.send(document);
  isRunning = false;
  expect([200, 400]).toContain(status);
  return longest;
}

// Each is just within the limits of tokens, depth, aliases and root fields.
it.each([
  ['a field over and over', inWorkflow('name '.repeat(980))],
  ['an object over and over, which validation compares pair by pair', inWorkflow('steps { id } '.repeat(240))],
  [
    'a fragment over and over',
    inWorkflow('...f '.repeat(450), `fragment f on Workflow { ${'steps { id } '.repeat(10)} }`),
  ],
  [
    'fragments that double 60 times',
    inWorkflow(
      '...f0',
      `${times(60, (i) => `fragment f${i} on Workflow { id ...f${i + 1} ...f${i + 1} }`)} fragment f60 on Workflow { id }`,
    ),
  ],
  [
    '60 fragments that overlap',
    inWorkflow(
      times(60, (i) => `...f${i}`),
      times(60, (i) => `fragment f${i} on Workflow { tags }`),
    ),
  ],
  ['900 fields that do not exist', inWorkflow(times(900, (i) => `x${i}`))],
  ['a list of 900 ids', `{ workflows(idsOrIdentifiers: [${'"a" '.repeat(900)}]) { id } }`],
  [
    'all of the schema',
    '{ __schema { types { name fields { name args { name type { name ofType { name ofType { name } } } } } } } }',
  ],
])('%s blocks the event loop for 50 ms at most', async (_, document) => {
  const blocks: number[] = [];
  for (let i = 0; i < 7; i += 1) {
    blocks.push(await blockOf(`${document} # ${i}`)); // Another text each time: nothing is cached.
  }
  // The least of them: the first ones compile the code, and the machine may be busy with something else.
  expect(Math.min(...blocks)).toBeLessThan(MAX_BLOCK_MS);
});
