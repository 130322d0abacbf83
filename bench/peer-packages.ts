import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The package that gives a peer its version. */
const MAIN_PACKAGES: Readonly<Record<string, string>> = {
  'stock-yoga': 'graphql-yoga',
  apollo: '@apollo/server',
  hive: '@graphql-hive/gateway',
  tailcall: '@tailcallhq/core-linux-x64-gnu',
};

/** Installs the peers' packages beside the benchmark, where they are missing. */
export function installPeers(report: (line: string) => void): void {
  if (existsSync(here('node_modules')) || !existsSync(here('package.json'))) {
    return;
  }
  report('Installing what the peers are made of: npm --prefix bench ci');
  const { status } = spawnSync('npm', ['--prefix', here('.'), 'ci', '--no-audit', '--no-fund'], { stdio: 'inherit' });
  if (status !== 0) {
    report('That failed; peers without their packages are skipped.');
  }
}

/** The version of a peer that is installed, where there is one. */
export function versionOf(subject: string): { version?: string } {
  const name = MAIN_PACKAGES[subject];
  const path = here(`node_modules/${name}/package.json`);
  if (name === undefined || !existsSync(path)) {
    return {};
  }
  const { version }: { version: string } = JSON.parse(readFileSync(path, 'utf8'));
  return { version: version.replace(/^v/, '') };
}
