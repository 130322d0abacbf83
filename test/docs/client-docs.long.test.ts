import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import manifest from '../../schema/trusted-documents.json' with { type: 'json' };
import { type SandboxedGateway, startSandboxedGateway } from '../support/gateway.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Programs of docs/client.md, with the output stated in their comments. */
const programs = [...readFileSync(join(ROOT, 'docs/client.md'), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(
  ([, program = ''], i) => {
    const output = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)\n/g)].map(([, line]) => `${line}\n`);
    return { file: `program-${i}.ts`, program, output: output.join('') };
  },
);

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let gateway: SandboxedGateway;

beforeAll(async () => {
  gateway = await startSandboxedGateway({
    options: { trustedDocuments: { manifests: [manifest] }, clients: { server: { trustedDocuments: 'enforce' } } },
  });
  folder = await createTemporaryFolder();
  const packages = folder.path('node_modules');
  await mkdir(join(packages, 'notigraph'), { recursive: true });
  for (const name of ['@apollo', '@urql', 'graphql', 'graphql-request', 'relay-runtime', 'rxjs']) {
    await symlink(join(ROOT, 'node_modules', name), join(packages, name), 'dir');
  }
  await symlink(join(ROOT, 'packages/client/src'), join(packages, 'notigraph', 'client'), 'dir');
  const exported = { type: 'module', exports: { './client': './client/index.ts' } };
  await writeFile(join(packages, 'notigraph', 'package.json'), JSON.stringify(exported));
  await writeFile(folder.path('package.json'), '{ "type": "module" }');
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
