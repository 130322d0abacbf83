import { expect, it } from 'vitest';
import { writePackageReferences } from '../codegen/package-references.ts';
import manifest from '../package.json' with { type: 'json' };
import lock from '../package-lock.json' with { type: 'json' };

const RENAMED = {
  name: '@acme/notigraph',
  version: '2.3.4',
  repository: { type: 'git', url: 'git+https://github.com/acme/notigraph.git' },
};

it.each([
  ["import { createGateway } from 'notigraph';", "import { createGateway } from '@acme/notigraph';"],
  [
    "const { createClient } = require('notigraph/client');",
    "const { createClient } = require('@acme/notigraph/client');",
  ],
  ['node node_modules/notigraph/bin/notigraph.js', 'node node_modules/@acme/notigraph/bin/notigraph.js'],
  ['npm install ./notigraph-0.9.0.tgz', 'npm install ./acme-notigraph-2.3.4.tgz'],
  [
    'https://github.com/notigraph/notigraph/releases/download/v0.9.0/notigraph-0.9.0.tgz',
    'https://github.com/acme/notigraph/releases/download/v2.3.4/acme-notigraph-2.3.4.tgz',
  ],
  [
    'helm install notigraph oci://ghcr.io/notigraph/charts/notigraph --version 0.9.0',
    'helm install notigraph oci://ghcr.io/acme/charts/notigraph --version 2.3.4',
  ],
  ['newName: ghcr.io/notigraph/notigraph, newTag: 0.9.0', 'newName: ghcr.io/acme/notigraph, newTag: 2.3.4'],
  ['image: notigraph:0.9.0-tracing', 'image: notigraph:2.3.4-tracing'],
  ['github.com/notigraph/notigraph//deploy?ref=v0.9.0', 'github.com/acme/notigraph//deploy?ref=v2.3.4'],
  ['version: 0.9.0\nappVersion: 0.9.0', 'version: 2.3.4\nappVersion: 2.3.4'],
  ['app.kubernetes.io/version: 0.9.0', 'app.kubernetes.io/version: 2.3.4'],
  ["export const VERSION = '0.9.0';", "export const VERSION = '2.3.4';"],
])('%s follows package.json', (before, after) => {
  expect(writePackageReferences(before, RENAMED)).toBe(after);
  expect(writePackageReferences(after, RENAMED)).toBe(after);
});

it.each([
  'npx notigraph --config notigraph.config.yaml',
  'https://github.com/novuhq/novu/blob/v0.24.0/README.md',
  'redis:7.2.4',
  'registry.example.com/notigraph',
])('%s stays', (text) => {
  expect(writePackageReferences(text, RENAMED)).toBe(text);
});

it('the lock file has the name and version of package.json', () => {
  const { name, version } = manifest;
  expect(lock).toMatchObject({ name, version, packages: { '': { name, version } } });
});
