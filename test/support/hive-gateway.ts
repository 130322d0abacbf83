import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { CHILD_ENV } from './child-env.ts';
import { blocks, ROOT, read } from './docs.ts';
import { listen } from './listen.ts';
import { createTemporaryFolder } from './sandbox-files.ts';

/** Program of Hive Gateway, which is installed with the benchmark's peers. */
const PROGRAM = join(ROOT, 'bench/node_modules/@graphql-hive/gateway/dist/bin.js');

/** Whether Hive Gateway is installed: `npm --prefix bench ci` installs it. */
export const hasHiveGateway = existsSync(PROGRAM);

/** Configuration in the docs, which passes credential and idempotency key of the caller on. */
const [CONFIGURATION = ''] = blocks(read('docs/federation.md'), 'js');

/** Router over several subgraphs. */
export interface HiveGateway extends AsyncDisposable {
  /** Sends an operation with these headers, and returns the response. */
  send(
    query: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ data?: Record<string, unknown>; errors?: unknown[] }>;
}

/** Starts Hive Gateway with a composed supergraph, and waits until it serves. */
export async function startHiveGateway(supergraph: string): Promise<HiveGateway> {
  const folder = await createTemporaryFolder();
  await writeFile(folder.path('supergraph.graphql'), supergraph);
  await writeFile(folder.path('gateway.config.mjs'), CONFIGURATION);
  const port = await findFreePort();
  const files = [folder.path('supergraph.graphql'), '--config-path', folder.path('gateway.config.mjs')];
  const child = spawn(
    process.execPath,
    [PROGRAM, 'supergraph', ...files, '--host', '127.0.0.1', '--port', String(port)],
    { env: { ...CHILD_ENV, NODE_ENV: 'production' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  const listening = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += String(chunk);
      if (/Listening on/i.test(printed)) {
        listening.resolve();
      }
    });
  }
  const ended = once(child, 'exit');
  ended.then(
    () => listening.reject(new Error(`Hive Gateway ended before it was ready:\n${printed}`)),
    listening.reject,
  );
  await listening.promise;
  return {
    async send(query, headers) {
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query }),
      });
      return response.json();
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function findFreePort(): Promise<number> {
  const { url, close } = await listen(createServer());
  await close();
  return Number(new URL(url).port);
}
