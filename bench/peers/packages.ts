import { existsSync } from 'node:fs';

/** Returns an absolute path for a path relative to a module. @param base the module's `import.meta.url` */
export const beside = (base: string, path: string): string => new URL(path, base).pathname;

/** Returns the path of a file in a package of the peers. */
export const inPackage = (path: string): string => beside(import.meta.url, `../node_modules/${path}`);

/** Returns a message if packages of a peer are missing. */
export function findMissing(title: string, packages: readonly string[]): string | undefined {
  const missing = packages.filter((name) => !existsSync(inPackage(`${name}/package.json`)));
  return missing.length === 0
    ? undefined
    : `${title} requires ${missing.join(', ')}. Run "npm --prefix bench ci" first.`;
}

/** Returns the last line of a failed command's error. The lines before it contain the command. */
export const lastLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? '';
