/** Upgrades a sandbox file with a last migration that never ends: a process to be killed in the middle of an upgrade. */
import { SandboxDatabase } from '../../src/sandbox/database.ts';
import { MIGRATIONS } from '../../src/sandbox/migrations.ts';

const [, , file = ''] = process.argv;

new SandboxDatabase(file, {
  migrations: [
    ...MIGRATIONS,
    {
      version: MIGRATIONS.length + 1,
      description: 'Writes until the process is killed.',
      sql: `
        CREATE TABLE endless (bytes BLOB NOT NULL) STRICT;
        WITH RECURSIVE counter (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM counter LIMIT 1000000)
        INSERT INTO endless SELECT randomblob(1000) FROM counter;
      `,
    },
  ],
  onUpgrade: () => {},
});
