// Writes the code of a module, with one member per line. Formatters of users change what they like.

import { isRecord, recordOf } from '../../lib/is-record.ts';
import { Names, nounOf, toCamel, toPascal, toWords } from './names.ts';
import type { ModulePlan } from './plan.ts';
import type { EndpointPlan, FieldPlan, LoaderPlan, TypePlan, Value } from './types.ts';
import { describe, isText, json, newField, scalar } from './types.ts';

/** Returns the file of a module. Texts of the document are in it only as literals, and as names that were converted. */
export const writeModule = (plan: ModulePlan): string => new Writer().write(plan);

/** Types of TypeScript by scalar, other than strings. */
const CODES: Readonly<Record<string, string>> = {
  Int: 'number',
  Float: 'number',
  Boolean: 'boolean',
  JSON: 'unknown',
  JSONObject: 'Record<string, unknown>',
};

/** Whether clients may leave a field out, or get null. */
const isNullable = ({ isRequired, value }: FieldPlan): boolean =>
  !isRequired || value.isNullable || value.type === 'JSON';

const nameOf = ({ type }: Value): string => (isText(type) ? quote(type) : type.name);

const typeOf = (value: Value): string => (value.isList ? `[${nameOf(value)}]` : nameOf(value));

function codeOf({ type, isList }: Value, others: readonly (string | false)[] = []): string {
  const code = isText(type) ? (CODES[type] ?? 'string') : `${type.name}Body`;
  return code === 'unknown' && !isList ? code : [isList ? `${code}[]` : code, ...others.filter(isText)].join(' | ');
}

/** Returns the type of an object. Members of a request can have any value that an input has. */
function bodyOf(fields: readonly FieldPlan[], isRequest: boolean): string {
  const members = fields.map((field) => {
    const { source, value, isRequired } = field;
    const isOptional = isRequest ? isNullable(field) : !isRequired;
    const others = isRequest ? [isOptional && 'null | undefined'] : [value.isNullable && 'null'];
    return `${property(source)}${isOptional ? '?' : ''}: ${codeOf(value, others)}`;
  });
  return braces(members, ';');
}

const memberAccess = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${quote(name)}]`);

/** Returns the option `nullable` of a field. Invalid records in lists, and unknown values of enums, are null and don't fail others. */
function nullabilityOf({ type, isList }: Value, isNull: boolean): string | undefined {
  if (isList && !isText(type)) {
    return `{ list: ${isNull}, items: true }`;
  }
  return isNull || (!isText(type) && type.kind === 'enum') ? 'true' : undefined;
}

const deprecationOf = (deprecated: unknown) => (deprecated === true ? quote('The service deprecates it.') : undefined);

const describeField = ({ method, route, operation }: EndpointPlan): string =>
  describe(operation, `Calls \`${method} ${route}\`.`);

/** Writes one module, and keeps in mind which tools its code uses. */
class Writer {
  readonly #tools = new Set<string>();

  write({ name, endpoints, types, loaders }: ModulePlan): string {
    const builder = this.#tool('builder');
    const own = types.filter(({ module }) => module === undefined);
    const objects = own.filter(({ kind }) => kind === 'object');
    const queries = endpoints.filter(({ method }) => method === 'GET').map((query) => this.#writeQuery(query));
    const links = new Set(objects.flatMap(({ fields }) => fields.map(({ link }) => link)));
    const taken = loaders.filter((loader) => loader.get === undefined && links.has(loader));
    const modules = [...new Set(types.flatMap(({ module }) => module ?? []))];
    const statements = [
      ...[...types, ...taken.map((loader) => ({ ...loader.type, name: loader.name }))]
        .filter(({ module }) => module !== undefined)
        .map((each) => `const { ${each.name} } = ${this.#tool('use')}(${each.module});`),
      ...types.map((type) => writeBody(type)),
      ...endpoints.map((endpoint) => this.#writeEndpoint(endpoint)),
      ...loaders.flatMap((loader) => this.#writeLoader(loader)),
      ...objects.map((type) => `const ${type.name} = ${builder}.objectRef<${type.name}Body>(${quote(type.name)});`),
      ...own.map((type) => this.#writeType(type)),
      ...(queries.length === 0 ? [] : [`${builder}.queryFields((t) => (${braces(queries)}));`]),
      ...endpoints.filter(({ method }) => method !== 'GET').map((mutation) => this.#writeMutation(mutation)),
    ];
    return `import { ${['defineModule', ...modules].toSorted().join(', ')} } from 'notigraph/modules';

// TODO: Check what the document doesn't say: the scopes, which are named after the paths; \`repeatable\` for writes that can be applied twice,
// \`empties\` and \`cached\` for reads that may be stored, and \`multiline\` for texts that may have line breaks.

export default defineModule(${quote(name)}, (toolkit) => {
${[`const { ${[...this.#tools].toSorted().join(', ')} } = toolkit;`, ...statements].map(indent).join('\n\n')}
});
`;
  }

  #tool(name: string): string {
    this.#tools.add(name);
    return name;
  }

  #scopes = (scope: string): string => `${this.#tool('requireScopes')}(${quote(scope)})`;

  #calls = (calls: string, more = ''): string => `${this.#tool('declareCalls')}(${quote(calls)}${more})`;

  #writeEndpoint({ method, route, field, inputs, hasWholeBody, options, response }: EndpointPlan): string {
    const takes = (['query', 'body'] as const).flatMap((place) => {
      const taken = inputs.filter((input) => input.place === place);
      const whole = place === 'body' && hasWholeBody ? taken[0] : undefined;
      return taken.length === 0 ? [] : `${place}: ${whole ? codeOf(whole.value) : bodyOf(taken, true)}`;
    });
    const set = Object.entries(options).filter(([, value]) => value !== undefined);
    const given = set.length === 0 ? '' : `, ${braces(set.map(([name, value]) => `${name}: ${literal(value)}`))}`;
    const isTyped = response !== undefined && options.expect !== 'text';
    const returns = isTyped ? `.returns<${codeOf(response, [response.isNullable && 'null'])}>()` : '';
    return `const ${field}Endpoint = ${this.#tool('endpoint')}(${quote(`${method} ${route}`)}${given})${
      takes.length === 0 ? '' : `.takes<${braces(takes, ';')}>()`
    }${returns};`;
  }

  #writeLoader({ name, type, get, key = '', many }: LoaderPlan): string[] {
    if (get === undefined) {
      return [];
    }
    const list = many && object({ endpoint: `${many.field}Endpoint`, keyOf: `(record) => record${memberAccess(key)}` });
    const options = object({ name: quote(name), get: `${get.field}Endpoint`, many: list });
    return [`const ${name} = ${this.#tool('loader')}<${type.name}Body>(${options});`];
  }

  #writeType(type: TypePlan): string {
    const { name, kind, fields, values, todos, noun, isRecord } = type;
    const description = quote(type.description);
    if (kind === 'enum') {
      const members = braces(values.map((each) => `${each.name}: { value: ${quote(each.value)} }`));
      const options = object({ description, values: `${members} as const` });
      return `const ${name} = ${this.#tool('builder')}.enumType(${quote(name)}, ${options});`;
    }
    const members =
      kind === 'input'
        ? fields.map((field) => writeInput(field, 't.field'))
        : fields.flatMap((field) => [this.#writeExposed(field, noun), ...this.#writeLink(field)]);
    const extensions = isRecord ? this.#scopes(`${noun}:read`) : undefined;
    const options = object({ description, extensions, fields: arrow('t', braces(members)) });
    const input = `const ${name} = ${this.#tool('builder')}.inputType(${quote(name)}, ${options});`;
    return commented(todos, kind === 'input' ? input : `${name}.implement(${options});`);
  }

  #writeExposed(field: FieldPlan, noun: string): string {
    const { name, source, value, isSecret = false } = field;
    const code = `${name}: t.expose(${quote(source)}, ${object({
      type: typeOf(value),
      nullable: nullabilityOf(value, isNullable(field)),
      extensions: isSecret ? this.#scopes(`${noun}-secrets:read`) : undefined,
      description: quote(field.description),
      deprecationReason: deprecationOf(field.isDeprecated),
    })})`;
    const secret = 'It is named like a secret: remove it, or its scope if it is none.';
    return commented([value.todo, isSecret ? secret : undefined], code);
  }

  #writeLink({ source, value, link, isSecret }: FieldPlan): string[] {
    if (link === undefined || isSecret) {
      return [];
    }
    const { name, noun, type, get } = link;
    const sent = `parent${memberAccess(source)}`;
    const id = value.type === 'Int' || value.type === 'Float' ? `String(${sent})` : sent;
    const reason = quote('One per distinct id, which the service sends.');
    const rest = get === undefined ? '' : `\n\nREST: \`GET ${get.route}\`.`;
    const code = object({
      type: type.name,
      nullable: 'true',
      extensions: this.#calls(PER_ID, `, ${object({ loader: name, reason })}`),
      description: quote(`The record with this id, or null if it does not exist.${rest}`),
      resolve: `(parent, _args, ctx) =>\n  ${sent} == null ? null : ${this.#tool('loadBySentId')}(${id}, (id) => ctx.loaders.load(${name}, id))`,
    });
    return [`${noun}: t.field(${code})`];
  }

  #writeRanges({ inputs }: EndpointPlan, from: 'args' | 'input'): string[] {
    return inputs.flatMap((field) => {
      const { name, place, range: [min, max] = [] } = field;
      const value = `${from}.${name}${isNullable(field) ? ` ?? ${min}` : ''}`;
      const isChecked = place === 'query' && min !== undefined;
      return isChecked ? [`${this.#tool('assertRange')}(${quote(name)}, ${value}, ${min}, ${max});`] : [];
    });
  }

  #writeQuery(endpoint: EndpointPlan): string {
    const { method, route, inputs, response = json(''), loader } = endpoint;
    const [param] = inputs;
    const scopes = this.#scopes(`${endpoint.noun}:read`);
    const load = param === undefined ? `list(${loader?.name})` : `load(${loader?.name}, args.${param.name})`;
    const read = loader
      ? `loaders.${load}`
      : `upstream.read(${endpoint.field}Endpoint, ${writeArgs(endpoint, 'args')})`;
    const calls = this.#calls(loader === undefined ? '1' : loader.many ? '1 for the whole operation' : PER_ID);
    const statements = [...this.#writeRanges(endpoint, 'args'), `return ctx.${read};`].join('\n');
    const code = object({
      type: typeOf(response),
      nullable: nullabilityOf(response, true),
      extensions: `{ ...${scopes}, ...${calls} }`,
      description: quote(`${describeField(endpoint)}\n\nREST: \`${method} ${route}\`.`),
      deprecationReason: deprecationOf(endpoint.operation.deprecated),
      args: param && braces(inputs.map((input) => writeInput(input, 't.arg'))),
      resolve: `(_root, ${param ? 'args' : '_args'}, ctx) => {\n${indent(statements)}\n}`,
    });
    return commented([...endpoint.todos, response.todo], `${endpoint.field}: t.field(${code})`);
  }

  #writeMutation(endpoint: EndpointPlan): string {
    const { field, inputs, response } = endpoint;
    const responses = recordOf(endpoint.operation.responses);
    const key = inputs.findLast(({ place }) => place === 'path');
    const done = doneOf(endpoint, key);
    const resource =
      response && !isText(response.type) && !response.isList ? response.type.name : toPascal(nounOf(endpoint.route));
    const failures = {
      notFound: key && object({ resource: quote(resource), id: `(input) => input.${key.name}` }),
      conflict: Object.hasOwn(responses, '409') && !endpoint.options.idempotent ? 'true' : undefined,
    };
    const fields = arrow('t', braces(inputs.map((input) => writeInput(input, 't.field'))));
    const send = `await send(${writeArgs(endpoint, 'input')})`;
    const value = key ? `{ ${key.name}: input.${key.name} }` : '{ accepted: true }';
    const sent = response ? [`return { ${done.name}: ${send} };`] : [`${send};`, `return ${value};`];
    const statements = [...this.#writeRanges(endpoint, 'input'), ...sent].join('\n');
    const code = object({
      description: quote(describeField(endpoint)),
      scope: quote(`${endpoint.noun}:write`),
      endpoint: `${field}Endpoint`,
      deprecationReason: deprecationOf(endpoint.operation.deprecated),
      input: inputs.length > 0 ? object({ description: quote(`The input of \`${field}\`.`), fields }) : undefined,
      failures: (failures.notFound ?? failures.conflict) ? object(failures) : undefined,
      resolve: `async (${inputs.length > 0 ? 'input' : '_input'}, send) => {\n${indent(statements)}\n}`,
      success: object({
        description: quote('The service applied the change.'),
        fields: arrow('t', braces([this.#writeExposed(done, endpoint.noun)])),
      }),
    });
    return commented(endpoint.todos, `${this.#tool('mutation')}(${quote(field)}, ${code});`);
  }
}

const PER_ID = '1 per distinct id in the operation';

function writeBody({ kind, name, module, fields, values }: TypePlan): string {
  if (kind === 'enum') {
    return `type ${name}Body = ${values.map(({ value }) => quote(value)).join(' | ')};`;
  }
  return module === undefined
    ? `interface ${name}Body ${bodyOf(fields, kind === 'input')}`
    : `type ${name}Body = typeof ${name}.$inferType;`;
}

function writeInput({ name, value, isRequired, description }: FieldPlan, method: 't.field' | 't.arg'): string {
  const required = isRequired && !value.isNullable ? 'true' : undefined;
  return commented(
    [value.todo],
    `${name}: ${method}(${object({ type: typeOf(value), required, description: quote(description) })})`,
  );
}

/** Writes the arguments of a call from those of a field. */
function writeArgs({ inputs, hasWholeBody }: EndpointPlan, from: 'args' | 'input'): string {
  const at = (place: FieldPlan['place']) =>
    inputs.flatMap((input) => (input.place === place ? `${property(input.source)}: ${from}.${input.name}` : []));
  const groups = (['query', 'headers', 'body'] as const).flatMap((place) => {
    const members = at(place);
    return members.length === 0 || (place === 'body' && hasWholeBody) ? members : `${place}: ${braces(members)}`;
  });
  return braces([...at('path'), ...groups]);
}

/** Returns the field of a success with the response, or with the id of the record if there is none. */
function doneOf({ method, response }: EndpointPlan, key: FieldPlan | undefined): FieldPlan {
  const first = method === 'DELETE' ? ['deleted'] : key?.name === 'id' ? ['requested'] : [];
  if (response === undefined && key !== undefined) {
    return { ...key, name: toCamel([...first, ...toWords(key.name)]), source: key.name };
  }
  const { type, isList } = response ?? {};
  const [name, value, description] =
    response === undefined
      ? ['accepted', scalar('Boolean'), 'Always true.']
      : isText(type) || type?.kind !== 'object'
        ? ['result', response, 'The response of the service.']
        : [toCamel(toWords(type.name)) + (isList ? 'List' : ''), response, 'The record.'];
  return newField(new Names(), name, value, { description });
}

/** Indents lines. Literals have no line breaks. */
const indent = (code: string): string => code.replace(/^(?=.)/gm, '  ');

const braces = (members: readonly string[], end: ',' | ';' = ','): string =>
  members.length === 0 ? '{}' : `{\n${members.map((member) => `${indent(member)}${end}\n`).join('')}}`;

/** Returns an object whose undefined members are left out. */
const object = (members: Readonly<Record<string, string | undefined>>): string =>
  braces(Object.entries(members).flatMap(([name, code]) => (code === undefined ? [] : [`${name}: ${code}`])));

const arrow = (param: string, code: string): string => `(${param}) => (${code})`;

const commented = (todos: readonly (string | undefined)[], code: string): string =>
  [...todos.flatMap((todo) => (todo === undefined ? [] : `// TODO: ${todo}`)), code].join('\n');

/** Returns any text as a string literal, in the quotes that need fewer escapes. Invisible characters are escaped, so that nobody misreads the code. */
function quote(text: string): string {
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
const property = (name: string): string => (/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : quote(name));

function literal(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(literal).join(', ')}]`;
  }
  if (isRecord(value)) {
    return braces(Object.entries(value).map(([name, each]) => `${property(name)}: ${literal(each)}`));
  }
  return typeof value === 'string' ? quote(value) : String(value);
}
