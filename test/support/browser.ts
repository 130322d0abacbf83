// Starts the headless browser of the tests.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import bundled, { inflate } from '@sparticuz/chromium';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

/**
 * Replaces the switches of the package: its switches for serverless functions disable the isolation of origins or run everything in one
 * process. Most switches here prevent the browser from sending requests of its own.
 */
const ARGS = [
  '--no-sandbox', // Tests often run as root in a container.
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
];

/** Starts the headless browser of the package, which includes its libraries and a font, or else an installed one. */
export async function launchBrowser(): Promise<Browser> {
  const failures: unknown[] = [];
  for (const findOptions of [
    bundledBrowser,
    () => ({ channel: 'chrome' }),
    () => ({ executablePath: '/usr/bin/chromium' }),
  ]) {
    try {
      return await chromium.launch({ ...(await findOptions()), args: ARGS, headless: true });
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `No browser can be started:\n${failures.join('\n')}`);
}

/**
 * Unpacks the browser of the package into the folder for temporary files, unless it is there. Only one process may do so at a time: the package
 * takes a file for complete as soon as it exists.
 *
 * @returns the paths of the program and of its libraries
 */
export async function unpackBrowser(): Promise<{ executablePath: string; libraries: string }> {
  const executablePath = await bundled.executablePath();
  const archive = new URL('../bin/al2023.tar.br', import.meta.resolve('@sparticuz/chromium'));
  return { executablePath, libraries: await inflate(fileURLToPath(archive)) };
}

async function bundledBrowser(): Promise<LaunchOptions> {
  const { executablePath, libraries } = await unpackBrowser();
  return {
    executablePath,
    env: { ...process.env, LD_LIBRARY_PATH: join(libraries, 'lib'), FONTCONFIG_PATH: join(tmpdir(), 'fonts') },
  };
}
