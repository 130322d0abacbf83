import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { copyProject } from './project-copy.ts';

/** Builds and packs a copy of the project, which leaves the project unchanged. @returns the path of the tarball */
export async function packProject(folder: string): Promise<string> {
  await using copy = await copyProject();
  await promisify(execFile)('npm', ['pack', '--offline', '--pack-destination', folder], { cwd: copy.path() });
  return join(folder, `notigraph-${manifest.version}.tgz`);
}

/** Returns the message about a version of Node.js that is too old. */
export const refusalOf = (version: string): string =>
  `Notigraph requires Node.js ${manifest.engines.node.replace('>=', '')} or later; this is v${version}. Run "npm install node@24" in your project, or get it from https://nodejs.org.`;
