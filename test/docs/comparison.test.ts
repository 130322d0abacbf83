import { describe, expect, it } from 'vitest';
import bench from '../../bench/package.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import { read, rows } from '../support/docs.ts';

const PAGE = read('docs/comparison.md');

/** Addresses at which the projects publish: documentation, repositories and package registries. */
const OFFICIAL =
  /^https:\/\/(?:www\.apollographql\.com\/docs|docs\.rs\/crate\/apollo-(?:router|federation)|crates\.io\/crates\/apollo-router|the-guild\.dev\/graphql|hasura\.io\/(?:docs|connectors)|github\.com\/(?:apollographql|hasura|tailcallhq|notigraph|novuhq)|www\.npmjs\.com\/package\/@tailcallhq)\//;

const SOURCES = new Map(
  [...PAGE.matchAll(/^\[([\w-]+)\]: (\S+)$/gm)].map(([, name = '', address = '']) => [name, address]),
);

const references = (text: string): string[] => [...text.matchAll(/\]\[([\w-]+)\]/g)].map(([, name = '']) => name);

describe('the sources of docs/comparison.md', () => {
  it('are all defined, and all used', () => {
    expect([...new Set(references(PAGE))].toSorted()).toEqual([...SOURCES.keys()].toSorted());
    expect(SOURCES.size).toBeGreaterThan(30);
  });

  it('are published by the projects themselves', () => {
    expect([...SOURCES.values()].filter((address) => !OFFICIAL.test(address))).toEqual([]);
    expect(PAGE).not.toMatch(/\]\(http/);
  });

  it.each(['Apollo Connectors', 'Hive Gateway and Mesh', 'Tailcall', 'Hasura'])(
    'support the paragraph about %s, which begins with what is better there',
    (name) => {
      const [, paragraph = ''] = PAGE.split(`\n- **${name}** is `);
      expect(paragraph).toMatch(/^better at /);
      expect(references(paragraph.split(/\n(?:- |\n)/)[0] ?? '').length).toBeGreaterThan(1);
    },
  );
});

it('docs/comparison.md compares this version with the versions that the benchmarks install, and says when', () => {
  const { dependencies, optionalDependencies: optional } = bench;
  const minor = (range: string) => (/\d+\.\d+/.exec(range) ?? [])[0];
  const [, notigraph, , hive, tailcall, , own] =
    rows(PAGE, /^\| subject \|/m).find(([subject]) => subject === 'version looked at') ?? [];
  expect([notigraph, hive, tailcall, own]).toEqual([
    minor(manifest.version),
    `Gateway ${minor(dependencies['@graphql-hive/gateway'])}, Compose CLI ${minor(dependencies['@graphql-mesh/compose-cli'])}`,
    optional['@tailcallhq/core-linux-x64-gnu'],
    `GraphQL Yoga ${minor(dependencies['graphql-yoga'])}, Apollo Server ${minor(dependencies['@apollo/server'])}`,
  ]);
  const [, date = ''] = /Looked up on (\d{4}-\d{2}-\d{2})\./.exec(PAGE) ?? []; // scripts/release.ts refuses an old one.
  expect(new Date(date).toJSON()).toBe(`${date}T00:00:00.000Z`);
});
