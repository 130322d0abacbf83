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
    ['browsers that are off, as by default', 'clients: { browser: off }'],
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

  it('accepts false wherever a setting can be off, like the gateway: Helm reads YAML 1.1, in which the word is a boolean', () => {
    const found: string[] = [];
    /** Returns a configuration with a value at a path, in which lists have one item. */
    const at = (path: readonly string[], value: string): string =>
      path.reduceRight((inner, name) => (name === '0' ? `[${inner}]` : `{ ${name}: ${inner} }`), value);
    const visit = (schema: unknown, path: readonly string[]): void => {
      if (!isRecord(schema)) {
        return;
      }
      const { properties, items, additionalProperties, anyOf = [], enum: words, description } = schema;
      const canBeOff = `${words}`.split(',').includes('off') || /`off`|Default: off/.test(String(description));
      if (canBeOff && found.at(-1) !== path.join('.')) {
        found.push(path.join('.'));
        const [word, bool] = ['off', 'false'].map((value) => {
          const text = at(path, value);
          return { editor: problemIn(text), gateway: problemsOf({ files: { 'notigraph.config.yaml': text } }) };
        });
        expect(bool).toEqual(word);
        expect(JSON.stringify(word)).not.toMatch(new RegExp(`(?:${path.join('\\.')} |${path.join('/')} )`));
      }
      for (const [name, member] of Object.entries(isRecord(properties) ? properties : {})) {
        visit(member, [...path, name]);
      }
      visit(items, [...path, '0']);
      visit(additionalProperties, [...path, 'name']);
      for (const form of [anyOf].flat()) {
        visit(form, path);
      }
    };
    visit(SCHEMA, []);
    expect(found).toMatchInlineSnapshot(`
      [
        "graphiql",
        "graphiql.sandbox",
        "introspection",
        "federation",
        "clients.server",
        "clients.server.trustedDocuments",
        "clients.browser",
        "clients.browser.issuers.0.proxy",
        "clients.browser.trustedDocuments",
        "clients.browser.explain",
        "audit.required",
        "proxy",
        "upstreamIdempotency",
        "upstreams.name.default",
        "upstreams.name.proxy",
        "upstreams.name.upstreamIdempotency",
        "cache",
        "modules",
        "logErrorTexts",
      ]
    `);
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
