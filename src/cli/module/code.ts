/** Code that is laid out in lines of at most `WIDTH` characters, as Biome and Prettier do. */
export type Code = string | Group | Call | Member | Arrow | Block | Union | Commented;

/** Braces around members: of an object, or of a type if they end with `;`. */
interface Group {
  kind: 'group';
  members: readonly Code[];
  end: ',' | ';';
  /** Texts around it, as in `(` and `)`. */
  around: readonly [before: string, after: string];
}

interface Call {
  kind: 'call';
  callee: string;
  types: readonly Code[];
  args: readonly Code[];
}

interface Member {
  kind: 'member';
  name: string;
  value: Code;
}

interface Arrow {
  kind: 'arrow';
  params: string;
  body: Code;
}

interface Block {
  kind: 'block';
  head: string;
  statements: readonly Code[];
}

interface Union {
  kind: 'union';
  name: string;
  types: readonly string[];
}

interface Commented {
  kind: 'commented';
  comments: readonly string[];
  code: Code;
}

/** Maximum length of a line. */
export const WIDTH = 120;

/** An object. */
export const object = (members: readonly Code[], around: Group['around'] = ['', '']): Code => ({
  kind: 'group',
  members,
  end: ',',
  around,
});

/** Type of an object. */
export const objectType = (members: readonly Code[]): Code => ({ kind: 'group', members, end: ';', around: ['', ''] });

/** A call with type arguments, if it has any. */
export const call = (callee: string, args: readonly Code[], types: readonly Code[] = []): Code => ({
  kind: 'call',
  callee,
  types,
  args,
});

/** Member of an object. */
export const member = (name: string, value: Code): Code => ({ kind: 'member', name, value });

/** Function with an expression. */
export const arrow = (params: string, body: Code): Code => ({ kind: 'arrow', params, body });

/** Method with statements. */
export const block = (head: string, statements: readonly Code[]): Code => ({ kind: 'block', head, statements });

/** Declaration of a type's member, or of a type, that has one of several types. `name` ends with `:` or `=`. */
export const union = (name: string, types: readonly string[]): Code => ({ kind: 'union', name, types });

/** Code below comments of one line each. */
export const commented = (comments: readonly string[], code: Code): Code =>
  comments.length === 0 ? code : { kind: 'commented', comments, code };

/**
 * Returns code as text.
 *
 * @param indent indentation of its first line
 * @param before length of what precedes it on its first line, without the indentation
 * @param after length of what follows it on its last line
 */
export function print(code: Code, indent = '', before = 0, after = 0): string {
  const flat = toFlat(code);
  const fits = (text: string | undefined, rest: number): text is string =>
    text !== undefined && indent.length + before + text.length + rest <= WIDTH;
  if (typeof code === 'string' || fits(flat, after)) {
    return flat ?? '';
  }
  const inner = `${indent}  `;
  switch (code.kind) {
    case 'group': {
      const lines = code.members.map((each) => `${inner}${print(each, inner, 0, 1)}${code.end}\n`);
      const [open, close] = code.around;
      return `${open}{\n${lines.join('')}${indent}}${close}`;
    }
    case 'call': {
      const types = code.types.map(flatOrEmpty).join(', ');
      const head = types === '' ? code.callee : `${code.callee}<${types}>`;
      if (types !== '' && !fits(`${head}(`, 0)) {
        const lines = code.types.map((each) => `${inner}${print(each, inner, 0, 1)}`).join(',\n');
        return `${code.callee}<\n${lines}\n${indent}>${print(call('', code.args), indent, 1, after)}`;
      }
      const first = code.args.slice(0, -1).map(flatOrEmpty);
      const last = code.args.at(-1) ?? '';
      const begin = `${head}(${[...first, ''].join(', ')}`;
      if (isHugged(last) && fits(`${begin}${firstLineOf(last, indent)}`, 0)) {
        return `${begin}${print(last, indent, before + begin.length, after + 1)})`;
      }
      return `${head}(\n${code.args.map((each) => `${inner}${print(each, inner, 0, 1)},\n`).join('')}${indent})`;
    }
    case 'member': {
      const begin = `${code.name}: `;
      return typeof code.value === 'string'
        ? `${begin.trimEnd()}\n${inner}${code.value}`
        : begin + print(code.value, indent, before + begin.length, after);
    }
    case 'arrow': {
      const begin = `${code.params} => `;
      return isHugged(code.body)
        ? begin + print(code.body, indent, before + begin.length, after)
        : `${begin.trimEnd()}\n${inner}${print(code.body, inner, 0, after)}`;
    }
    case 'block':
      return `${code.head} {\n${code.statements.map((each) => `${inner}${print(each, inner, 0, 1)};\n`).join('')}${indent}}`;
    case 'union':
      return code.types.length === 1
        ? (flat ?? '')
        : `${code.name}\n${code.types.map((type) => `${inner}| ${type}`).join('\n')}`;
    case 'commented':
      return [...code.comments, print(code.code, indent, before, after)].join(`\n${indent}`);
  }
}

/** Whether code begins on the line of what contains it, even if it takes several lines. */
const isHugged = (code: Code): boolean => typeof code !== 'string' && (code.kind === 'group' || code.kind === 'arrow');

const firstLineOf = (code: Code, indent: string): string => print(code, indent, WIDTH).split('\n', 1)[0] ?? '';

const flatOrEmpty = (code: Code): string => toFlat(code) ?? '';

/** Returns code on one line; undefined if it contains comments or statements. */
function toFlat(code: Code): string | undefined {
  if (typeof code === 'string') {
    return code;
  }
  const all = (codes: readonly Code[], separator: string): string | undefined => {
    const texts = codes.map(toFlat);
    return texts.includes(undefined) ? undefined : texts.join(separator);
  };
  switch (code.kind) {
    case 'group': {
      const members = all(code.members, `${code.end} `);
      const [open, close] = code.around;
      return members === undefined ? undefined : `${open}${members === '' ? '{}' : `{ ${members} }`}${close}`;
    }
    case 'call': {
      const [types, args] = [all(code.types, ', '), all(code.args, ', ')];
      return types === undefined || args === undefined
        ? undefined
        : `${code.callee}${types === '' ? '' : `<${types}>`}(${args})`;
    }
    case 'member':
      return join(`${code.name}: `, code.value);
    case 'arrow':
      return join(`${code.params} => `, code.body);
    case 'union':
      return `${code.name} ${code.types.join(' | ')}`;
    case 'block':
    case 'commented':
      return undefined;
  }
}

function join(begin: string, code: Code): string | undefined {
  const flat = toFlat(code);
  return flat === undefined ? undefined : begin + flat;
}

/** Returns any text as a string literal, in the quotes that need fewer escapes. Invisible characters are escaped, so that nobody misreads the code. */
export function quote(text: string): string {
  const mark = text.split("'").length > text.split('"').length ? '"' : "'";
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
      [...Array(char.length).keys()].map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
    )
    .replaceAll(mark, `\\${mark}`);
  return mark + escaped + mark;
}

/** Returns the name of a property, in quotes if it is no identifier. */
export const property = (name: string): string =>
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : quote(name);
