// Packs the project as npm publishes it.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import client from '../../packages/client/package.json' with { type: 'json' };
import { copyProject } from '../support/project-copy.ts';

/** Builds and packs a copy of the project, which leaves the project unchanged. @returns the paths of the tarballs. @throws if packing changes the copy's package.json */
export async function packProject(folder: string): Promise<{ gateway: string; client: string }> {
  await using copy = await copyProject();
  const manifestBefore = await copy.read('package.json');
  for (const workspace of [[], ['--workspace', client.name]]) {
    const args = ['pack', '--offline', '--pack-destination', folder, ...workspace];
    await promisify(execFile)('npm', args, { cwd: copy.path() });
  }
  if ((await copy.read('package.json')) !== manifestBefore) {
    throw new Error('npm pack changed the package.json of the project.');
  }
  const [gateway, ofClient] = [`notigraph-${manifest.version}.tgz`, `notigraph-client-${client.version}.tgz`];
  return { gateway: join(folder, gateway), client: join(folder, ofClient) };
}

/** Returns the message about a version of Node.js that is too old. */
export const refusalOf = (version: string): string =>
  `Notigraph requires Node.js ${manifest.engines.node.replace('>=', '')} or later; this is v${version}. Run "npm install node@24" in your project, or get it from https://nodejs.org.`;
