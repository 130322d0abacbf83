// Lists the sources of the project, and what they import.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Import or re-export, including type imports. Files are relative to the project folder. */
export interface Import {
  from: string;
  /** Imported file or module name. */
  to: string;
  isModule: boolean;
}

const withSlashes = (path: string): string => path.split(sep).join('/');

/** Lists the TypeScript files of a project folder. */
export function listSources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => withSlashes(join(folder, file)))
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'));
}

/** Returns the text of a project file. */
export const readSource = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Lists the static and dynamic imports of a file. */
export function readImports(from: string): Import[] {
  const text = readSource(from);
  const statements = text.matchAll(/^(?:import|export)\s(?:[\w\s{},*]*?\sfrom\s)?['"]([^'"]+)['"]/gm);
  const dynamic = text.matchAll(/\bimport\(['"]([^'"]+)['"]\)/g);
  return [...statements, ...dynamic].map(([, target = '']) => {
    const isModule = !target.startsWith('.');
    return { from, to: isModule ? target : withSlashes(normalize(join(dirname(from), target))), isModule };
  });
}
