// Creates or resets a sandbox file without ever ending, so that a test can kill the process in the middle: node endless-creation.ts FILE [reset].

import { SandboxDatabase } from '../../sandbox/src/database.ts';
import { SCHEMA } from '../../sandbox/src/service.ts';

const [, , file = '', mode] = process.argv;

function writeForever(database: SandboxDatabase): void {
  const insert = database.prepare(
    "INSERT INTO feeds (id, environment_id, name, created_at) VALUES (hex(randomblob(1000)), '', ?, '')",
  );
  for (let i = 0; ; i += 1) {
    insert.run(String(i));
  }
}

new SandboxDatabase(file, SCHEMA, writeForever, mode === 'reset');
