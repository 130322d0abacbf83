/** Creates or resets a sandbox file without ever ending, so that a test can kill the process in the middle: node endless-creation.ts FILE [reset]. */
import { SandboxDatabase } from '../../packages/sandbox/src/database.ts';
import { schemaOf } from '../../packages/sandbox/src/open-database.ts';
import { resources } from '../../packages/sandbox/src/resources/index.ts';

const [, , file = '', mode] = process.argv;

new SandboxDatabase(file, {
  schema: schemaOf(resources),
  isReset: mode === 'reset',
  onCreate(database) {
    const insert = database.prepare(
      'INSERT INTO feeds (id, environment_id, name) VALUES (hex(randomblob(1000)), ?, ?)',
    );
    for (let i = 0; ; i += 1) {
      insert.run('', String(i));
    }
  },
});
