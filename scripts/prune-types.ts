// Removes the declarations of private files from the package: those that no declaration of a public entry refers to.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import options from './tsconfig.build.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../dist/types/', import.meta.url));

/** Adds a declaration, and all that it refers to. */
function visit(path: string, found: Set<string>): void {
  if (found.has(path) || !existsSync(join(ROOT, path))) {
    return;
  }
  found.add(path);
  for (const [, specifier = ''] of readFileSync(join(ROOT, path), 'utf8').matchAll(
    /["'](\.{1,2}\/[^"']+)\.[jt]s["']/g,
  )) {
    visit(`${posix.join(posix.dirname(path), specifier)}.d.ts`, found);
  }
}

const needed = new Set<string>();
for (const file of options.files) {
  visit(file.replace('../', '').replace(/\.ts$/, '.d.ts'), needed);
}
const files = (await readdir(ROOT, { recursive: true })).filter((file) => file.endsWith('.d.ts'));
for (const file of files.filter((each) => !needed.has(each.replaceAll('\\', '/')))) {
  rmSync(join(ROOT, file));
}
