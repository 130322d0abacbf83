import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import lock from '../package-lock.json' with { type: 'json' };

const FILES =
  '{README.md,deploy/**/*.yaml,deploy/Dockerfile,docs/**/*.{md,svg},packages/*/package.json,src/lib/installation.ts}';

/** Version of this package: of its tarball, image and chart, of its tag, and after its name or the word. */
const VERSION =
  /(?:\bnotigraph[-:]|charts\/notigraph --version |Notigraph |(?:\/|=)v|version(?:=|: |": )"?|VERSION = ')(\d+\.\d+\.\d+)/gi;

it('files name the version of package.json', () => {
  const named = globSync(FILES, { exclude: ['**/node_modules/**'] }).flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(VERSION), ([text, version]) => ({ file, text, version })),
  );
  expect(named.filter(({ version }) => version !== manifest.version)).toEqual([]);
  expect(named.length).toBeGreaterThan(30);
});

it('the lock file has the name and version of package.json', () => {
  const { name, version } = manifest;
  expect(lock).toMatchObject({ name, version, packages: { '': { name, version } } });
});
