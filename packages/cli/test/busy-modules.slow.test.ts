// Modules that keep their process alive or hang: what a stop and a reload do with them.

import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runNotigraph, startNotigraph } from '../../../test/support/process.ts';
import { createFolderOfEachTest } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { startService } from '../../../test/support/service.ts';

const folder = createFolderOfEachTest();

const write = (file: string, text: string) => writeFile(folder.path(file), text);

/** Module whose timer and connection keep its process alive, and whose fields hang or count its imports. */
const BUSY = `import { connect } from 'node:net';
import { defineModule } from 'notigraph/modules';
import { imports } from './imports.mjs';
setInterval(() => undefined, 1_000);
connect(Number(process.env.BUSY_PORT), '127.0.0.1');
export default defineModule('busy', ({ builder, declareCalls, requireScopes }) => {
  const extensions = { ...requireScopes('busy:read'), ...declareCalls('1') };
  const resolve = () => new Promise(() => console.log('It hangs.'));
  builder.queryField('hang', (t) => t.int({ nullable: true, extensions, resolve }));
  builder.queryField('imports', (t) => t.int({ nullable: true, extensions, resolve: imports }));
});
`;

async function writeBusy(): Promise<void> {
  await write('busy.mjs', BUSY);
  await write(
    'imports.mjs',
    'globalThis.imports = (globalThis.imports ?? 0) + 1;\nconst count = globalThis.imports;\nexport const imports = () => count;\n',
  );
}

it("a module's timer and connection keep no command alive, and its resolvers no gateway that stops, which warns of cut off requests", async () => {
  await using service = await startService(() => ({ body: { data: [] } }));
  await writeBusy();
  const env = { BUSY_PORT: new URL(service.url).port };
  const modules = ['--modules', './busy.mjs'];
  const schema = await runNotigraph({ cwd: folder.path(), args: ['schema', 'print', ...modules], env });
  expect([schema.code, schema.stdout]).toEqual([0, expect.stringContaining('\n  hang: Int\n')]);
  expect(schema.stdout.slice(-3)).toBe('\n}\n'); // The whole output.
  const failed = await runNotigraph({ cwd: folder.path(), args: ['--modules', './busy.mjs,./none.mjs'], env });
  expect(failed).toMatchObject({ code: 2, signal: null });
  for (const workers of ['1', '2']) {
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      args: ['--upstream', service.url, '--workers', workers, ...modules],
      env: { ...env, NOTIGRAPH_DRAIN_TIMEOUT_MS: '500' },
    });
    const hanging = [1, 2].map(() => sendOperation(notigraph.url, '{ hang }').catch(() => 'cut off'));
    await notigraph.printed('stdout', /^It hangs\.$/m, 2);
    const { stdout, ...ending } = await notigraph.stop('SIGTERM');
    expect(ending).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(await Promise.all(hanging)).toEqual(['cut off', 'cut off']);
    const warnings = stdout.split('\n').filter((line) => line.includes('drainTimeoutMs'));
    const cutOff = warnings.map((line) => JSON.parse(line));
    const warning = {
      level: 'warn',
      drainTimeoutMs: 500,
      msg: 'requests were cut off at shutdown, because they were not finished within drainTimeoutMs',
    };
    expect(cutOff).toMatchObject(cutOff.map(() => warning));
    expect(cutOff.reduce((sum, { requests }) => sum + requests, 0)).toBe(2); // Each worker counts its own.
  }
});

it.each(['1', '2'])(
  'a reload imports only files that changed, and those that import them, with %s workers',
  async (workers) => {
    await using service = await startService(() => ({ body: { data: [] } }));
    await writeBusy();
    const configure = (logLevel: string) =>
      write('notigraph.config.yaml', `modules: [./busy.mjs]\nreloadSeconds: 0.05\nlogLevel: ${logLevel}\n`);
    await configure('info');
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      args: ['--upstream', service.url, '--workers', workers],
      env: { BUSY_PORT: new URL(service.url).port },
    });
    const count = () => sendOperation(notigraph.url, '{ imports }');
    const reloaded = (times: number) => notigraph.printed('stdout', /the configuration was reloaded/, times);
    expect(await count()).toEqual({ data: { imports: 1 } });
    await configure('debug');
    await reloaded(1);
    expect(await count()).toEqual({ data: { imports: 1 } });
    await write(
      'busy.mjs',
      BUSY.replace(
        'imports }));',
        "imports }));\n  builder.queryField('added', (t) => t.int({ extensions, resolve: () => 2 }));",
      ),
    );
    await reloaded(2);
    expect(await sendOperation(notigraph.url, '{ imports added }')).toEqual({ data: { imports: 1, added: 2 } });
    await write('imports.mjs', `export const imports = () => 10;`);
    await reloaded(3);
    expect(await count()).toEqual({ data: { imports: 10 } });
    await configure('info');
    await reloaded(4);
    expect(await count()).toEqual({ data: { imports: 10 } });
  },
);
