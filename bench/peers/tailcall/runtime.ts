import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beside, inPackage, lastLineOf } from '../packages.ts';

/** npm package that contains the binary. */
export const PACKAGE = '@tailcallhq/core-linux-x64-gnu';

/** Folder for files created at run time. */
export const RUNTIME = beside(import.meta.url, '.runtime');

/** Debian release with the glibc that the binary requires (2.39), and the packages that contain its libraries. */
const RELEASE = 'trixie';
const DEBIAN_PACKAGES = ['libc6', 'libgcc-s1'];

const BINARY = inPackage(`${PACKAGE}/bin/tailcall`);
const LIBRARIES = join(RUNTIME, 'glibc/usr/lib/x86_64-linux-gnu');
const LOADER = join(LIBRARIES, 'ld-linux-x86-64.so.2');
const TIMEOUT_MS = 60_000;

const run = promisify(execFile);

/** Returns the command that starts the binary, with the downloaded libraries if there are any, or else with the system's. */
export const commandFor = (args: readonly string[]): { file: string; args: string[] } =>
  existsSync(LOADER)
    ? { file: LOADER, args: ['--library-path', LIBRARIES, BINARY, ...args] }
    : { file: BINARY, args: [...args] };

/**
 * Makes sure that the binary runs. If the system's glibc is too old, downloads a newer one from the system's Debian mirror and unpacks
 * it into `RUNTIME`. Installs nothing.
 * @returns why the binary can't run; undefined if it can
 */
export async function prepareRuntime(): Promise<string | undefined> {
  if (await isRunnable()) {
    return undefined;
  }
  try {
    await downloadLibraries();
  } catch (error) {
    return `Tailcall requires glibc 2.39, and Debian's packages of it can't be downloaded: ${lastLineOf(error)}`;
  }
  return (await isRunnable()) ? undefined : 'Tailcall does not run, even with the downloaded glibc.';
}

async function isRunnable(): Promise<boolean> {
  const { file, args } = commandFor(['--version']);
  try {
    await run(file, args, { timeout: TIMEOUT_MS, env: { TAILCALL_TRACKER: 'false' } });
    return true;
  } catch {
    return false;
  }
}

async function downloadLibraries(): Promise<void> {
  await mkdir(RUNTIME, { recursive: true });
  const folder = await mkdtemp(join(RUNTIME, 'fetch-'));
  try {
    const sources = join(folder, 'sources.list');
    await writeFile(sources, `deb ${await findMirror()} ${RELEASE} main\n`);
    await mkdir(join(folder, 'lists/partial'), { recursive: true });
    // Separate package lists, so that the system's are not changed.
    const options = [
      `Dir::Etc::SourceList=${sources}`,
      'Dir::Etc::SourceParts=-',
      `Dir::State::Lists=${join(folder, 'lists')}`,
      `Dir::Cache=${folder}`,
      'Acquire::Languages=none',
    ].flatMap((option) => ['-o', option]);
    const apt = (args: string[]) => run('apt-get', ['-qq', ...options, ...args], { cwd: folder, timeout: TIMEOUT_MS });
    await apt(['update']);
    await apt(['download', ...DEBIAN_PACKAGES]);
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.deb'))) {
      await run('dpkg-deb', ['-x', file, 'glibc'], { cwd: folder, timeout: TIMEOUT_MS });
    }
    await rename(join(folder, 'glibc'), join(RUNTIME, 'glibc'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the mirror of the system's own release. */
async function findMirror(): Promise<string> {
  const release = /^VERSION_CODENAME=(\w+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1];
  const format = '$(RELEASE) $(COMPONENT) $(REPO_URI)';
  const { stdout } = await run('apt-get', ['indextargets', '--format', format, 'Identifier: Packages']);
  const mirror = stdout
    .split('\n')
    .map((line) => line.split(' '))
    .find((fields) => fields[0] === release && fields[1] === 'main')?.[2];
  if (mirror === undefined) {
    throw new Error('apt has no Debian mirror configured.');
  }
  return mirror;
}
