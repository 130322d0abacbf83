/** Upgrades a sandbox file with a migration that never ends, so that a test can kill the process during an upgrade. */
import { SandboxDatabase } from '../../src/sandbox/database.ts';
import { collectMigrations } from '../../src/sandbox/open-database.ts';
import { resources } from '../../src/sandbox/resources/index.ts';

const [, , file = ''] = process.argv;
const migrations = collectMigrations(resources);

new SandboxDatabase(file, {
  migrations: [
    ...migrations,
    {
      version: (migrations.at(-1)?.version ?? 0) + 1,
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
