import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import dashboard from '../../../examples/dashboard/package.json' with { type: 'json' };
import manifest from '../../../package.json' with { type: 'json' };
import { CHILD_ENV } from '../../../test/support/child-env.ts';
import { runNotigraph } from '../../../test/support/process.ts';
import { findPrograms } from '../../../test/support/programs.ts';
import { canCopy, copyProject, gitOnly } from '../../../test/support/project-copy.ts';
import { createTemporaryFolder, createTestFolder } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { startService } from '../../../test/support/service.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Arguments for a gateway on a free port that leaves no file behind. */
const FREE = ['--port', '0', '--sandbox', ':memory:'];

/** Runs npm with its own cache, in a group of processes that ends with the test. */
async function runNpm(
  args: readonly string[],
  { cwd = ROOT, env = {} }: { cwd?: string; env?: NodeJS.Dict<string> } = {},
) {
  const cache = await createTemporaryFolder();
  const npm = spawn('npm', args, {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...CHILD_ENV,
      HOME: cache.path(),
      npm_config_cache: cache.path(),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
      NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000',
      ...env,
    },
  });
  const { pid = 0 } = npm;
  const signalAll = (signal: NodeJS.Signals) => process.kill(-pid, signal);
  onTestFinished(async () => {
    try {
      signalAll('SIGKILL');
    } catch {
      // All of them have ended.
    }
    await cache[Symbol.asyncDispose]();
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = once(npm, 'exit');
  const closed = once(npm, 'close').then(() => output); // When the last process that can write has ended.

  /** Waits for a match in the output. */
  async function printed(pattern: RegExp): Promise<string> {
    for (;;) {
      const [, found] = pattern.exec(output) ?? [];
      if (found !== undefined) {
        return found;
      }
      const ending = await Promise.race([once(npm.stdout, 'data').then(() => undefined), closed]);
      if (ending !== undefined) {
        throw new Error(`npm ended first:\n${ending}`);
      }
    }
  }

  return { npm, exited, closed, signalAll, printed };
}

it.each([
  ['package.json', manifest.scripts],
  ['examples/dashboard/package.json', dashboard.scripts],
])('the scripts of %s run in the shell of Windows too', (_file, scripts) => {
  for (const script of Object.values<string>(scripts)) {
    expect(script).not.toMatch(/(?:^|&& )\w+=|['$;`]|(?:^|&& )(?:exec|rm|cp|mv|cd|export) /);
  }
});

describe('SIGTERM to npm', () => {
  it.each([
    ['start', FREE, /GraphQL +(\S+)/],
    ['dev', FREE, /GraphQL +(\S+)/],
    ['dashboard', ['--port', '0', '--gateway-port', '0', '--issuer-port', '0'], /Gateway +(\S+)[\s\S]*Ctrl-C/],
  ])('ends the server of npm run %s', async (script, args, address) => {
    const { npm, closed, printed } = await runNpm(['run', script, '--', ...args]);
    const url = await printed(address);
    expect(await fetch(url)).toBeInstanceOf(Response);
    npm.kill('SIGTERM');
    await closed;
    await expect(fetch(url)).rejects.toThrow();
  });
});

describe('a server in the background', () => {
  const COMMAND = `node bin/notigraph.js ${FREE.join(' ')}`;

  it.each([
    ['a script with & starts', `${COMMAND} & sleep 0.2`],
    ['another program starts', 'node "$LAUNCHER"'],
  ])('that %s outlives the shell of npm', async (_how, script) => {
    const folder = await createTestFolder();
    const launcher = `import { spawn } from 'node:child_process';
      spawn(process.execPath, ${JSON.stringify(COMMAND.split(' ').slice(1))}, { stdio: 'inherit' });
      setTimeout(() => process.exit(), 3_000); // When the server knows what started it.`;
    await writeFile(folder.path('launcher.mjs'), launcher);
    const env = { LAUNCHER: folder.path('launcher.mjs') };
    const { exited, printed } = await runNpm(['exec', '--call', script], { env });
    await exited;
    const url = await printed(/GraphQL +(\S+)/);
    await sleep(500); // Longer than it takes to notice that the shell has ended.
    expect(await sendOperation(url, '{ notificationGroups { name } }')).toHaveProperty('data');
  });
});

describe('npx notigraph in a clone', () => {
  it.runIf(canCopy)(`runs the source, not what was built earlier, and ends with npx${gitOnly}`, async () => {
    await using copy = await copyProject();
    await mkdir(copy.path('dist', 'cli'), { recursive: true });
    await writeFile(copy.path('dist', 'cli', 'main.js'), "console.log('old')");
    const { npm, closed, printed } = await runNpm(['exec', '--', 'notigraph', ...FREE], { cwd: copy.path() });
    const url = await printed(/GraphQL +(\S+)/);
    expect(await sendOperation(url, '{ notificationGroups { name } }')).toHaveProperty('data');
    npm.kill('SIGTERM');
    expect(await closed).toContain('Shutting down');
    expect(await copy.read('dist/cli/main.js')).toBe("console.log('old')"); // Nothing was built.
  });
});

it.runIf(canCopy)(`an incomplete installation is reported by the start, with what to do${gitOnly}`, async () => {
  await using copy = await copyProject();
  const main = copy.path('bin', 'notigraph.js');
  const args = ['--port', '0', '--sandbox', ':memory:', '--graphiql', 'on'];
  const operations = copy.path('schema', 'operations');
  await rm(operations, { recursive: true });
  const reason = `the installation is incomplete, because ${operations}/ can't be read (ENOENT). Install Notigraph again.\n`;
  expect(await runNotigraph({ main, args })).toEqual({
    ...{ code: 2, signal: null, stdout: '' },
    stderr: `Notigraph can't start: ${reason}`,
  });

  await rm(copy.path('node_modules'));
  expect(await runNotigraph({ main, args })).toEqual({
    ...{ code: 1, signal: null, stdout: '' },
    stderr: expect.stringMatching(/^Cannot find package '.+' imported from .+\. Run "npm ci" first\.\n$/),
  });
});

describe('Ctrl-C', () => {
  // Debian's sh ends without passing the signal on; bash is replaced by the program, which gets the signal of the terminal and npm's copy.
  describe.each(['sh', 'bash'])('of npm start in %s', (shell) => {
    const { areThere, note } = findPrograms(shell);
    it.runIf(areThere)(`finishes in-flight requests${note}`, async () => {
      await using upstream = await startService(() => ({ body: { data: [] } }));
      const held = upstream.hold(undefined, Infinity);
      const env = { npm_config_script_shell: shell };
      const args = ['start', '--', '--port', '0', '--upstream', upstream.url];
      const { closed, exited, signalAll, printed } = await runNpm(args, { env });
      const answer = sendOperation(await printed(/GraphQL +(\S+)/), '{ notificationGroups { name } }');
      await held.arrived;
      signalAll('SIGINT'); // As a terminal does.
      await printed(/(Shutting down)/);
      await Promise.race([exited, sleep(1_000)]); // The shell is gone, or npm has passed the signal on.
      await sleep(500); // Longer than it takes to notice that.
      held.release();
      expect(await answer).toEqual({ data: { notificationGroups: [] } });
      await closed;
    });
  });
});
