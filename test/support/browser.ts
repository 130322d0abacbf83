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

async function bundledBrowser(): Promise<LaunchOptions> {
  const executablePath = await bundled.executablePath();
  const archive = new URL('../bin/al2023.tar.br', import.meta.resolve('@sparticuz/chromium'));
  const libraries = await inflate(fileURLToPath(archive));
  return {
    executablePath,
    env: { ...process.env, LD_LIBRARY_PATH: join(libraries, 'lib'), FONTCONFIG_PATH: join(tmpdir(), 'fonts') },
  };
}
