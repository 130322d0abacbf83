import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Packages whose version is reported as the peer's. */
const MAIN_PACKAGES: Readonly<Record<string, string>> = {
  'stock-yoga': 'graphql-yoga',
  apollo: '@apollo/server',
  hive: '@graphql-hive/gateway',
  tailcall: '@tailcallhq/core-linux-x64-gnu',
};

/** Installs the peers' packages in `bench/` unless they are already installed. */
export function installPeers(report: (line: string) => void): void {
  if (existsSync(here('node_modules')) || !existsSync(here('package.json'))) {
    return;
  }
  report("Installing the peers' packages: npm --prefix bench ci");
  const { status } = spawnSync('npm', ['--prefix', here('.'), 'ci', '--no-audit', '--no-fund'], { stdio: 'inherit' });
  if (status !== 0) {
    report('The installation failed. Peers without their packages are skipped.');
  }
}

/** Returns the installed version of a peer, if any. */
export function versionOf(subject: string): { version?: string } {
  const name = MAIN_PACKAGES[subject];
  const path = here(`node_modules/${name}/package.json`);
  if (name === undefined || !existsSync(path)) {
    return {};
  }
  const { version }: { version: string } = JSON.parse(readFileSync(path, 'utf8'));
  return { version: version.replace(/^v/, '') };
}
