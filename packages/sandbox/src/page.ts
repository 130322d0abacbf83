// Writes the page at `/`: the API keys, a request to try, and the records of each environment.

import type { SandboxDatabase } from './database.ts';
import { ENVIRONMENTS, type Environment, SANDBOX_KEYS } from './environments.ts';
import { resources } from './resources/index.ts';
import type { SandboxResponse } from './response.ts';
import { text } from './rows.ts';

/** @param host host by which the client knows the sandbox */
export const writePage = (host: string, database: SandboxDatabase): SandboxResponse => ({
  status: 200,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  body: `Notigraph sandbox

API keys, each with its own records:
${ENVIRONMENTS.map(({ name }) => `  ${SANDBOX_KEYS[name]}  ${name}`).join('\n')}

A notification service with sample data, for development and tests. It implements the /v1 REST API.

curl -H 'Authorization: ApiKey ${SANDBOX_KEYS.development}' 'http://${host}/v1/notification-groups'
${ENVIRONMENTS.map((environment) => writeRecordLists(environment, database)).join('')}`,
});

function writeRecordLists({ id, name }: Environment, database: SandboxDatabase): string {
  const lists = resources.flatMap(({ recordList }) => {
    const rows = recordList === undefined ? [] : database.prepare(recordList.sql).all(id);
    const lines = rows.map((row) => `  ${text(row, 'id')}  ${text(row, 'label')}`);
    return recordList === undefined ? [] : ['', recordList.title, ...(lines.length === 0 ? ['  None.'] : lines)];
  });
  return [``, `# ${name}, API key ${SANDBOX_KEYS[name]}`, ...lists, ''].join('\n');
}
