import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { runSandbox, spawnSandbox } from '../support/sandbox-process.ts';

describe('the sandbox as a process', () => {
  it('prints its address, the data file and an example request', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await using sandbox = await spawnSandbox('--file', file);
    expect(sandbox.output()).toContain(`Data: ${file}`);
    expect(sandbox.output()).toContain('sandbox-production-key');
    const command = /curl .*/.exec(sandbox.output())?.[0] ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(JSON.parse(stdout)).toHaveProperty('data');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('exits with 0 on %s', async (signal) => {
    await using sandbox = await spawnSandbox('--file', ':memory:');
    expect(await sandbox.stop(signal)).toEqual({ code: 0, signal: null });
  });

  it.each([
    [['--port', 'web'], '--port must be a number from 0 to 65535, not "web".\n'],
    [['--prot', '1'], "Unknown option '--prot'. See --help.\n"],
    [['4010'], "Unexpected argument '4010'. See --help.\n"],
    [['--file', ''], '--file requires a value.\n'],
  ])('rejects the options %j in one sentence', async (flags, stderr) => {
    expect(await runSandbox(...flags)).toEqual({ code: 2, stdout: '', stderr });
  });

  it('explains its options', async () => {
    const { code, stdout } = await runSandbox('--help');
    expect(code).toBe(0);
    expect(stdout).toContain('--file <path>');
  });

  it('reports in one sentence that its port is in use or its file is not a database', async () => {
    await using other = await startSandbox();
    const port = new URL(other.url).port;
    const taken = await runSandbox('--port', port, '--file', ':memory:');
    expect(taken).toMatchObject({ code: 1, stdout: '' });
    expect(taken.stderr).toMatch(/^Port \d+ on 127\.0\.0\.1 is already in use[^\n]+\n$/);

    const broken = await runSandbox('--port', '0', '--file', import.meta.filename);
    expect(broken).toEqual({ code: 1, stdout: '', stderr: `${import.meta.filename} is not a SQLite database.\n` });
  });
});
