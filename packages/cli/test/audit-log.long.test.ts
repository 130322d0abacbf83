import { spawnSync } from 'node:child_process';
import { readFile, rename, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { guards } from '../../../test/support/guards.ts';
import { startNotigraph } from '../../../test/support/process.ts';
import { findPrograms } from '../../../test/support/programs.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';

guards('src/telemetry/audit-log.ts', 'openAuditFile.write');

const PRLIMIT = findPrograms('prlimit');

/** Maximum size of a file, in blocks of 512 bytes: a few lines, and a part of one. */
const BLOCKS = 2;

/** Starts a gateway with an audit log in a process, in front of the sandbox. */
async function startAudited(to: 'stdout' | { file: string }, maxFileBlocks?: number) {
  const notigraph = await startNotigraph({
    args: ['--sandbox', ':memory:'],
    env: { NOTIGRAPH_CONFIG_TEXT: JSON.stringify({ audit: { to } }) },
    maxFileBlocks,
  });
  const write = () => sendOperation(notigraph.url, 'mutation { createFeed(input: { name: "News" }) { __typename } }');
  return { notigraph, write };
}

it('is written to the output', async () => {
  const { notigraph, write } = await startAudited('stdout');
  await using _ = notigraph;
  await write();
  const [line] = await notigraph.printed('stdout', /^\{.*"field":"createFeed".*$/m);
  expect(JSON.parse(line)).toMatchObject({ field: 'createFeed', outcome: 'APPLIED' });
});

it.runIf(PRLIMIT.areThere)(`loses no line after one of which only a part fits on the disk${PRLIMIT.note}`, async () => {
  const folder = await createTestFolder();
  const file = folder.path('audit.jsonl');
  const { notigraph, write } = await startAudited({ file }, BLOCKS);
  await using _ = notigraph;
  const fill = async () => {
    while ((await stat(file)).size < BLOCKS * 512) {
      await write();
    }
  };
  await fill();
  await rename(file, `${file}.1`); // As logrotate does.
  await write();
  await fill();
  expect(spawnSync('prlimit', ['--pid', `${notigraph.pid}`, '--fsize=unlimited']).status).toBe(0);
  await write();
  await write();
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const [torn] = lines.splice(-3, 1);
  expect(torn).not.toMatch(/\}$/);
  expect(lines.map((line) => JSON.parse(line).field)).toEqual(lines.map(() => 'createFeed'));
});
