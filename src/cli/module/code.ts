import { isRecord } from '../../lib/is-record.ts';

// Writes code of TypeScript with one member per line. Formatters of users change what they like.

/** Indents lines. Literals have no line breaks. */
export const indent = (code: string): string => code.replace(/^(?=.)/gm, '  ');

export const braces = (members: readonly string[], end: ',' | ';' = ','): string =>
  members.length === 0 ? '{}' : `{\n${members.map((member) => `${indent(member)}${end}\n`).join('')}}`;

/** Returns an object whose undefined members are left out. */
export const object = (members: Readonly<Record<string, string | undefined>>): string =>
  braces(Object.entries(members).flatMap(([name, code]) => (code === undefined ? [] : [`${name}: ${code}`])));

export const arrow = (param: string, code: string): string => `(${param}) => (${code})`;

export const commented = (todos: readonly (string | undefined)[], code: string): string =>
  [...todos.flatMap((todo) => (todo === undefined ? [] : `// TODO: ${todo}`)), code].join('\n');

/** Returns any text as a string literal, in the quotes that need fewer escapes. Invisible characters are escaped, so that nobody misreads the code. */
export function quote(text: string): string {
  const mark = text.split("'").length > text.split('"').length ? '"' : "'";
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
      char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    )
    .replaceAll(mark, `\\${mark}`);
  return mark + escaped + mark;
}

/** Returns the name of a property, in quotes if it is no identifier. */
export const property = (name: string): string =>
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : quote(name);

export function literal(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(literal).join(', ')}]`;
  }
  if (isRecord(value)) {
    return braces(Object.entries(value).map(([name, each]) => `${property(name)}: ${literal(each)}`));
  }
  return typeof value === 'string' ? quote(value) : String(value);
}
