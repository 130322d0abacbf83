import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import manifest from '../../schema/trusted-documents.json' with { type: 'json' };
import { blocks, linkPackages, read } from '../support/docs.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const run = promisify(execFile);

/** Programs of docs/client.md, with the output stated in their comments. */
const programs = blocks(read('docs/client.md'), 'ts').map((program, i) => {
  const output = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)\n/g)].map(([, line]) => `${line}\n`);
  return { file: `program-${i}.ts`, program, output: output.join('') };
});

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let gateway: GatewayWithService;

beforeAll(async () => {
  gateway = await startGateway({
    service: 'sandbox',
    trustedDocuments: { manifests: [manifest] },
    clients: { server: { trustedDocuments: 'enforce' } },
  });
  folder = await createTemporaryFolder();
  await linkPackages(folder.path(), ['@apollo', '@urql', 'graphql', 'graphql-request', 'relay-runtime', 'rxjs']);
  // The programs use an API key as the token, because this gateway serves servers.
  await writeFile(folder.path('app.mjs'), `globalThis.getToken = async () => '${SANDBOX_KEYS.development}';`);
  for (const { file, program } of programs) {
    await writeFile(folder.path(file), program);
    const aimed = program.replaceAll('https://graphql.example.com/graphql', gateway.url);
    await writeFile(folder.path(`run-${file}`), aimed.replaceAll('`Bearer ', '`ApiKey '));
  }
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

it('docs/client.md has a program for each client, with texts and with ids', () => {
  expect(programs.map(({ program }) => /from '((?!(?:@[\w-]+\/)?notigraph)[^']+)'/.exec(program)?.[1])).toEqual([
    undefined,
    undefined,
    '@urql/core',
    '@urql/core',
    '@apollo/client',
    'graphql-request',
    'relay-runtime',
    undefined,
    '@urql/core',
    '@apollo/client',
  ]);
});

/** Programs that run as they are; packages/client/test/relay.long.test.ts runs the other one. */
const complete = programs.filter(({ program }) => !program.includes('relay-runtime'));

it.each(complete)('$file of docs/client.md prints the documented output', async ({ file, output }) => {
  gateway.forget();
  const args = ['--import', folder.path('app.mjs'), folder.path(`run-${file}`)];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: folder.path(), timeout: 60_000 });
  expect(output).not.toBe('');
  expect({ stdout, stderr }).toEqual({ stdout: output, stderr: '' });
  expect(gateway.upstream()[0]?.headers.authorization).toBe(`ApiKey ${SANDBOX_KEYS.development}`);
});
