import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { blocks, read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { findPrograms } from '../support/programs.ts';
import { createTestFolder } from '../support/sandbox-files.ts';

const { areThere: hasJq, note: jqOnly } = findPrograms('jq');

it.runIf(hasJq)(`the command of docs/runbooks.md finds the one tenant of 40 that is down${jqOnly}`, async () => {
  const folder = await createTestFolder();
  let isDown = false;
  await using gateway = await startGateway({
    service: ({ headers }) =>
      isDown && headers.authorization === 'ApiKey key-17'
        ? { status: 403, body: { statusCode: 403, message: 'No' } }
        : { body: { data: [] } },
  });
  const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`);
  for (const key of keys) {
    await gateway.run('{ notificationGroups { id } }', key);
  }
  const accepted = gateway.log.length;
  isDown = true;
  await Promise.all([...keys, ...keys].map((key) => gateway.run('{ notificationGroups { id } }', key)));
  const lines = ['Notigraph is running.', ...gateway.log.slice(accepted).map((line) => JSON.stringify(line))];
  await writeFile(folder.path('notigraph.log'), `${lines.join('\n')}\n`);

  const command = /kubectl [^\n]+ --tail -1 \|[^\n]*\n((?: {2}.*\n)+)/.exec(
    blocks(read('docs/runbooks.md'), 'sh')[1] ?? '',
  );
  const printed = execFileSync('sh', ['-c', `cat notigraph.log | ${command?.[1]}`], {
    cwd: folder.path(''),
    encoding: 'utf8',
  });
  const counts = printed
    .trimEnd()
    .split('\n')
    .map((line) => line.trim());
  expect(counts).toHaveLength(40);
  expect(counts.filter((line) => line.includes('FORBIDDEN'))).toEqual([`2 ${gateway.log[17]?.tenant} FORBIDDEN`]);
  expect(counts.filter((line) => /^2 [\da-f]{8}$/.test(line))).toHaveLength(39);
});
