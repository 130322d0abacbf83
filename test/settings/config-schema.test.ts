import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../packages/cli/src/config/settings.ts';
import { isRecord } from '../../src/lib/is-record.ts';
import { problemsOf } from '../support/configuration.ts';
import { addTo, blocks, FRONTEND, read } from '../support/docs.ts';

const SCHEMA = JSON.parse(read('schema/config.schema.json'));

const isValid = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(SCHEMA);

/** Returns the first problem that an editor shows. */
function problemIn(text: string): string | undefined {
  isValid(parse(text) ?? {});
  const [error] = isValid.errors ?? [];
  return error && `${error.instancePath} ${error.message}`;
}

/** Whether the gateway accepts a configuration file. */
function isAccepted(text: string): boolean {
  const variables = [...text.matchAll(/env: (\w+)/g)].map(([, name = '']) => [
    name,
    VALUES[name] ?? 'x'.repeat(32) + name,
  ]);
  return problemsOf({ env: Object.fromEntries(variables), files: { 'notigraph.config.yaml': text } }).length === 0;
}

/** Values of variables that aren't secrets. */
const VALUES: Readonly<Record<string, string>> = {
  REDIS_URL: 'redis://127.0.0.1',
  UPSTREAM: 'https://notifications.example.com',
  PORT: '4001',
  MODE: 'log',
};

const CONFIGURATION = read('docs/configuration.md');

describe('the JSON Schema of the configuration file', () => {
  it.each([
    ['the example of docs/configuration.md', blocks(CONFIGURATION, 'yaml')[0] ?? ''],
    ['the dashboard', read('examples/dashboard/notigraph.config.yaml')],
    ...blocks(FRONTEND, 'yaml').map((block, i): [string, string] => [`block ${i} of docs/frontend.md`, addTo(block)]),
  ])('accepts the configuration of %s', (_, text) => {
    expect(problemIn(text)).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['the name of the schema', '$schema: ./config.schema.json'],
    ['switches in sections in words', 'graphiql: { sandbox: on }\naudit: { to: stdout, required: on }'],
    ['variables in place of any single setting', 'upstream: { env: UPSTREAM }\nport: { env: PORT }'],
    [
      'variables in place of texts in sections',
      'clients: { server: { trustedDocuments: { env: MODE } } }\ntrustedDocuments: { manifests: [x] }',
    ],
    ['a secret in a file', 'logSecret: { file: log-secret }'],
    [
      'Redis with an address in a file',
      'rateLimits: { store: { redis: { url: { file: url }, ca: { file: ca.pem }, keyPrefix: "eu:" } } }',
    ],
  ])('accepts %s, like the gateway', (_, text) => {
    expect([problemIn(text), isAccepted(text)]).toEqual([undefined, true]);
  });

  it.each([
    ['the invalid example of docs/configuration.md', blocks(CONFIGURATION, 'yaml')[1] ?? ''],
    ['an unknown setting', 'colour: blue'],
    ['an unknown setting in a section', 'clients: { server: { colour: blue } }'],
    ['a number out of range', 'maxRetries: 11'],
    ['a word that is none of the choices', 'logLevel: loud'],
    ['a switch in a section that is another word', 'audit: { to: stdout, required: yes }'],
    ['a secret in the file', 'clientTokens: { secrets: [0123456789012345678901234567890123456789] }'],
    ['a sandbox that is neither a path nor a switch', 'sandbox: 7'],
    ['an empty list', 'clientTokens: { secrets: [] }'],
    ['a scope that does not exist', 'clients: { browser: { scopes: [a:b] } }'],
    ['a reference with two forms', 'clientTokens: { secrets: [{ env: A, file: b }] }'],
  ])('rejects %s, like the gateway', (_, text) => {
    expect(problemIn(text)).toBeDefined();
    expect(isAccepted(text)).toBe(false);
  });

  it('has every setting, each with a description, and what is not computed with its default', () => {
    const { $schema: _, ...settings } = SCHEMA.properties;
    expect(Object.keys(settings).toSorted()).toEqual(Object.keys(SETTINGS).toSorted());
    const undescribed: string[] = [];
    const visit = (schema: unknown, path: string): void => {
      if (!isRecord(schema)) {
        return;
      }
      for (const [name, member] of Object.entries(isRecord(schema.properties) ? schema.properties : {})) {
        if (!isRecord(member) || !/^[A-Z][^\]]+\.$/s.test(String(member.description))) {
          undescribed.push(`${path}.${name}`);
        }
        visit(member, `${path}.${name}`);
      }
      for (const form of [schema.items, schema.additionalProperties, schema.anyOf].flat()) {
        visit(form, path);
      }
    };
    visit(SCHEMA, '');
    expect(undescribed).toEqual([]);
    expect(settings).toMatchObject({ port: { default: 4000 }, introspection: { default: true } });
    expect(settings.graphiql).not.toHaveProperty('default'); // It depends on NODE_ENV.
  });
});
