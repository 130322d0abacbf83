// The installed package: its version, and its files.

import { fileURLToPath } from 'node:url';
import { errorCodeOf, SetupError } from './caught.ts';

/** Version of the package. `test/package-references.test.ts` compares it with that in package.json. */
export const VERSION = '1.1.0';

/** Name with which the gateway introduces itself in requests. */
export const USER_AGENT = `notigraph/${VERSION}`;

/** Thrown if a file of the package is missing or can't be read. */
export class InstallationError extends SetupError {
  override readonly name = 'InstallationError';

  constructor(file: URL, cause: unknown) {
    super(`the installation is incomplete, because ${describeUnreadable(file, cause)}. Install Notigraph again`, {
      cause,
    });
  }
}

/** Returns the address of a file or folder in the package, which contains this module or a bundle of it. */
export const packageUrl = (path: string): URL => new URL(path, import.meta.resolve('#package.json'));

const describeUnreadable = (file: URL, error: unknown): string =>
  `${fileURLToPath(file)} can't be read (${errorCodeOf(error) ?? error})`;
