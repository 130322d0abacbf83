// Installs the packages of the peers, and finds their files and versions.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Subject } from '../subjects.ts';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));

/** Returns the path of a file in a package of the peers. */
export const inPackage = (path: string): string => `${FOLDER}node_modules/${path}`;

/** Installs the peers' packages in `bench/` unless they are already installed. */
export function installPeers(subjects: readonly Subject[], report: (line: string) => void): void {
  if (existsSync(inPackage('')) || subjects.every(({ packages = [] }) => packages.length === 0)) {
    return;
  }
  report("Installing the peers' packages: npm --prefix bench ci");
  const { status } = spawnSync('npm', ['--prefix', FOLDER, 'ci', '--no-audit', '--no-fund'], { stdio: 'inherit' });
  if (status !== 0) {
    report('The installation failed. Peers without their packages are skipped.');
  }
}

/** Throws if packages of a subject are missing. */
export function requirePackages({ title, packages = [] }: Subject): void {
  const missing = packages.filter((name) => !existsSync(inPackage(`${name}/package.json`)));
  if (missing.length > 0) {
    throw new Error(`${title} requires ${missing.join(', ')}. Run "npm --prefix bench ci" first.`);
  }
}

/** Returns the version of a peer's main package, if any. */
export function versionOf({ packages: [main] = [] }: Subject): string | undefined {
  if (main === undefined) {
    return undefined;
  }
  const { version }: { version: string } = JSON.parse(readFileSync(inPackage(`${main}/package.json`), 'utf8'));
  return version.replace(/^v/, '');
}
