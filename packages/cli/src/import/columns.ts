// Decides which column of a file, or member of its rows, is which field.

import { suggest } from '../../../../src/settings/define.ts';
import type { CommandLine } from '../command.ts';
import { readNamedFile } from '../config/problem.ts';
import { FIELD_NAMES, isField } from './row-rules.ts';

export interface Columns {
  /** Fields of columns that have other names; empty for those that are ignored. */
  fields: ReadonlyMap<string, string>;
  /** Cells that are read as empty ones, and members that are left out. */
  nulls: ReadonlySet<unknown>;
}

const MAX_MAP_BYTES = 256 * 1024;

/**
 * Reads the options about columns.
 *
 * @param problems receives those of the options
 * @throws {ConfigError} if the file with names can't be read
 */
export function readColumns({ options, lists }: CommandLine, problems: string[]): Columns {
  const { 'map-file': file } = options;
  const text = file === undefined ? '' : readNamedFile(file, MAX_MAP_BYTES, `--map-file: the file ${file}`);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const ignored = (lists.ignore ?? []).map((name) => `${name}=`);
  const fields = new Map<string, string>();
  for (const entry of [...(lists.map ?? []), ...lines, ...ignored]) {
    const [, name = '', field = ''] = /^\s*(.*\S)\s*=\s*([^=]*?)\s*$/s.exec(entry) ?? [];
    if (name === '') {
      problems.push('--map, or a line of --map-file, must be COLUMN=FIELD, such as --map "E-Mail=email".');
    } else if (field !== '' && !isField(field)) {
      problems.push(`--map: "${field}" is not a field${suggest(field, FIELD_NAMES)}. For any other, use "data.NAME".`);
    } else if (fields.has(name) || (field !== '' && [...fields.values()].includes(field))) {
      problems.push(`--map: ${fields.has(name) ? `the column "${name}"` : `the field "${field}"`} is named twice.`);
    }
    fields.set(name, field);
  }
  return { fields, nulls: new Set(lists.null) };
}
