import { existsSync } from 'node:fs';

/** The path of something beside a module. @param base the module's `import.meta.url` */
export const beside = (base: string, path: string): string => new URL(path, base).pathname;

/** The path of a file that a package of the peers brings. */
export const inPackage = (path: string): string => beside(import.meta.url, `../node_modules/${path}`);

/** Says that a peer's packages are missing, where they are. */
export function findMissing(title: string, packages: readonly string[]): string | undefined {
  const missing = packages.filter((name) => !existsSync(inPackage(`${name}/package.json`)));
  return missing.length === 0 ? undefined : `${title} lacks ${missing.join(', ')}: run npm --prefix bench ci first`;
}

/** What a command that failed said last; above it stands how it was called. */
export const lastLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? '';
