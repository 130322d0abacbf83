import { parseJson } from './json-rows.ts';
import { FIELD_NAMES, JSON_FIELDS } from './row-rules.ts';
import { describeUnknown, hasKnownName } from './unknown-names.ts';

/** Prefix of columns with one member of `data`. Further dots are members of members. */
const DATA = 'data.';

/** Returns the problems of a header, one sentence each. */
export function findHeaderProblems(names: readonly string[]): string[] {
  if (!hasKnownName(names, FIELD_NAMES)) {
    return ['The first line must name the columns, such as subscriberId and email.'];
  }
  const columns = [...FIELD_NAMES, ...names.filter((name) => /^data\.[^.]+(?:\.[^.]+)*$/.test(name))];
  const repeated = new Set(names.filter((name, i) => names.indexOf(name) !== i));
  const parents = names.filter((name) => names.some((other) => other.startsWith(`${name}.`)));
  return [
    ...names.flatMap((name, i) => {
      if (columns.includes(name)) {
        return [];
      }
      return name === ''
        ? [`Column ${i + 1} of the header has no name.`]
        : [`The header has ${describeUnknown(name, FIELD_NAMES, { noun: 'column', place: `column ${i + 1}` })}.`];
    }),
    ...[...repeated].filter(Boolean).map((name) => `The header has the column "${name}" twice.`),
    ...parents.map((name) => `Use either the column "${name}" or columns that begin with "${name}.", not both.`),
    ...(names.includes('subscriberId') ? [] : ['The header has no column "subscriberId".']),
  ];
}

/** Converts the cells of a row to fields. Empty cells are absent. Cells that aren't JSON, but should be, stay text. */
export function toFields(names: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [i, name] of names.entries()) {
    const cell = cells[i] ?? '';
    if (cell !== '') {
      if (name.startsWith(DATA)) {
        setMember(fields, name.split('.'), cell);
      } else {
        fields[name] = JSON_FIELDS.has(name) ? (parseJson(cell) ?? cell) : cell;
      }
    }
  }
  return fields;
}

/** Sets a member of members, which are created. They are own properties, whatever their names are. */
function setMember(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], cell: string): void {
  if (rest.length === 0) {
    define(target, name, cell);
    return;
  }
  const inner: Record<string, unknown> = {};
  const existing = Object.hasOwn(target, name) ? target[name] : define(target, name, inner);
  setMember(existing as Record<string, unknown>, rest, cell); // The header's check excludes texts.
}

function define(target: Record<string, unknown>, name: string, value: unknown): unknown {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  return value;
}
