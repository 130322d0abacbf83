import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { runCommand, startServing } from '../../../test/support/command.ts';
import { loadFrom } from '../../../test/support/configuration.ts';
import { guards } from '../../../test/support/guards.ts';
import { startTestIssuer } from '../../../test/support/issuer.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { startService } from '../../../test/support/service.ts';
import { formsOf } from '../src/config/parts.ts';
import { SETTINGS_TABLE } from '../src/config/settings.ts';

guards('src/settings/parse.ts', 'findTenantConflicts');

// Names that users choose are keys in the configuration file. YAML takes some of them for numbers, switches, null or dates.

const FILE = 'notigraph.config.yaml';
const SERVICE = 'https://notifications.example.com';

/** Names, next to those that they could become. */
const NAMES = [
  ...[
    '42',
    '0042',
    '1000',
    '1e3',
    '1E3',
    '31',
    '0x1F',
    '15',
    '0o17',
    '017',
    '1',
    '1.0',
    '01',
    '+1',
    '-0',
    '.5',
    '0.50',
  ],
  ...['12345678901234567', '12345678901234568', '1234567890123456789012', '1_000', '.inf', '.nan'],
  ...['yes', 'no', 'on', 'off', 'true', 'True', 'false', 'null', 'Null', '~', '<<', '='],
  ...['2026-01-02', '2026-1-2', '2026-01-02T03:04:05Z', '12:30:45'],
];

const clientsWith = (section: string): string =>
  `clients: { browser: { issuers: [{ issuer: i, audience: a, publicKey: { file: key.pem } }], ${section} } }`;
const isHeader = (name: string): boolean => !/[:=<]/.test(name) && !/^(?:1E3|True|Null)$/.test(name); // Each once, in whatever case.

/** Every map of the settings by its path: its place in a file, a value, and the names that it accepts. @default all */
const MAPS: Readonly<Record<string, readonly [text: string, value: string, accepts?: (name: string) => boolean]>> = {
  'clients.browser.tenants': [`upstream: ${SERVICE}\n${clientsWith('tenants: MAP')}`, '{ env: KEY }'],
  'clients.browser.tenantKeys.upstreams': [
    `upstreams: { main: { url: '${SERVICE}', default: on } }\n${clientsWith('tenantKeys: { directory: keys, upstreams: MAP }')}`,
    'main',
  ],
  'trustedDocuments.manifests.*': [`upstream: ${SERVICE}\ntrustedDocuments: { manifests: [MAP] }`, "'{ __typename }'"],
  'mcp.manifest': [`upstream: ${SERVICE}\nmcp: { manifest: MAP }`, "'query Q { __typename }'"],
  upstreamHeaders: [`upstream: ${SERVICE}\nupstreamHeaders: MAP`, 'x', isHeader],
  upstreams: ['upstreams: MAP', `{ url: '${SERVICE}' }`, (name) => /^[a-z]+$/.test(name)],
  'upstreams.*.upstreamHeaders': [`upstreams: { main: { url: '${SERVICE}', upstreamHeaders: MAP } }`, 'x', isHeader],
};

it('every map of the settings is tested here', () => {
  const mapsIn = (schema: unknown, path: readonly string[]): string[] =>
    formsOf(schema).flatMap((form) => {
      if (form instanceof z.ZodObject) {
        return Object.entries(form.shape).flatMap(([name, inner]) => mapsIn(inner, [...path, name]));
      }
      if (form instanceof z.ZodArray) {
        return mapsIn(form.element, [...path, '*']);
      }
      return form instanceof z.ZodRecord ? [path.join('.'), ...mapsIn(form.valueType, [...path, '*'])] : [];
    });
  expect(mapsIn(SETTINGS_TABLE, []).toSorted()).toEqual(Object.keys(MAPS).toSorted());
});

it.each(Object.keys(MAPS))('the names in %s are texts as written, in YAML, in JSON and in a variable', (path) => {
  const [text = '', value, accepts = () => true] = MAPS[path] ?? [];
  const names = NAMES.filter(accepts);
  const plain = text.replace('MAP', () => `{ ${names.map((name) => `${name}: ${value}`).join(', ')} }`);
  const quoted = text.replace('MAP', () => `{ ${names.map((name) => `"${name}": ${value}`).join(', ')} }`);
  const namesIn = (env: Record<string, string>, files: Record<string, string>) => {
    let section: unknown = loadFrom({ env: { KEY: 'key', ...env }, files });
    for (const name of path.split('.')) {
      section = Object.entries(Object(section)).find(([key]) => name === '*' || key === name)?.[1];
    }
    return Object.keys(Object(section)).toSorted();
  };
  for (const content of [`${plain}\n`, `${quoted}\n`]) {
    expect(namesIn({}, { [FILE]: content })).toEqual(names.toSorted());
    expect(namesIn({ NOTIGRAPH_CONFIG_TEXT: content }, {})).toEqual(names.toSorted());
  }
});

it('a token gets the key of the tenant with exactly its name, and no other', async () => {
  const folder = await createTestFolder();
  await using issuer = await startTestIssuer({ claims: { aud: 'app', scope: 'groups:read' } });
  await using service = await startService(() => ({ body: { data: [] } }));
  const tenants = ['0042', '1e3', '12345678901234567', '0x1F', 'null', 'yes', '2026-01-02'];
  await writeFile(
    folder.path(FILE),
    `upstream: ${service.url}
clients:
  browser:
    issuers:
      - { issuer: '${issuer.url}', audience: app, jwks: '${issuer.jwks}' }
    scopes: [groups:read]
    tenants:
${tenants.map((name, i) => `      ${name}: { env: KEY_${i} }\n`).join('')}`,
  );
  const env = Object.fromEntries(tenants.map((name, i) => [`KEY_${i}`, `key-of-${name}`]));
  expect(await runCommand({ cwd: folder.path(), env, args: ['check'] })).toMatchObject({ code: 0 });
  await using notigraph = await startServing({ cwd: folder.path(), env });
  const ask = (tenant: string) =>
    sendOperation(notigraph.url, '{ notificationGroups { name } }', {}, `Bearer ${issuer.sign({ tenant })}`);
  for (const other of ['42', '34', '1000', '12345678901234568', '31', '', '~', 'true', '2026-01-02T00:00:00.000Z']) {
    expect(await ask(other)).toMatchObject({ errors: [{ extensions: { reason: 'TENANT_UNKNOWN' } }] });
  }
  expect(service.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  for (const tenant of tenants) {
    expect(await ask(tenant)).toEqual({ data: { notificationGroups: [] } });
    expect(service.requests.at(-1)?.headers.authorization).toBe(`ApiKey key-of-${tenant}`);
  }
});
