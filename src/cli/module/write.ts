import { arrow, braces, commented, indent, literal, object, property, quote } from './code.ts';
import { toCamel, toWords } from './names.ts';
import { inputsOf, type ModulePlan } from './plan.ts';
import {
  type EndpointPlan,
  type FieldPlan,
  json,
  type LoaderPlan,
  scalar,
  type TypePlan,
  type Value,
} from './types.ts';

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

const DEPRECATED = quote('The service deprecates it.');

/** Whether clients may leave a field out, or get null. */
const isNullable = ({ isRequired, value }: FieldPlan): boolean =>
  !isRequired || value.isNullable || value.type === 'JSON';

const nameOf = ({ type }: Value): string => (typeof type === 'string' ? quote(type) : type.name);

/** Returns the type of a value in GraphQL. */
const typeOf = (value: Value): string => (value.isList ? `[${nameOf(value)}]` : nameOf(value));

/** Returns the type of a value in TypeScript, without null. */
function codeOf({ type, isList }: Value): string {
  const code = typeof type === 'string' ? (CODES[type] ?? 'string') : `${type.name}Body`;
  return isList ? `${code}[]` : code;
}

/** Returns a member of an interface of TypeScript. Those of a request can have any value that an input has. */
function memberOf(field: FieldPlan, isRequest: boolean): string {
  const code = codeOf(field.value);
  const types = isRequest
    ? [code, ...(isNullable(field) ? ['null', 'undefined'] : [])]
    : [code, ...(field.value.isNullable ? ['null'] : [])];
  const isOptional = isRequest ? isNullable(field) : !field.isRequired;
  return `${property(field.source)}${isOptional ? '?' : ''}: ${code === 'unknown' ? code : types.join(' | ')}`;
}

const bodyOf = (fields: readonly FieldPlan[], isRequest: boolean): string =>
  braces(
    fields.map((field) => memberOf(field, isRequest)),
    ';',
  );

/** Returns the option `nullable` of a field. Invalid records in lists, and unknown values of enums, are null and don't fail others. */
function nullabilityOf(value: Value, isNull: boolean): string | undefined {
  const { type, isList } = value;
  const isEnum = typeof type !== 'string' && type.kind === 'enum';
  if (isList && typeof type !== 'string') {
    return `{ list: ${isNull}, items: true }`;
  }
  return isNull || isEnum ? 'true' : undefined;
}

/** Writes one module, and keeps in mind which tools and modules its code uses. */
class Writer {
  readonly #tools = new Set<string>();

  write({ name, endpoints, types, loaders }: ModulePlan): string {
    const queries = endpoints.filter(({ method }) => method === 'GET');
    const mutations = endpoints.filter(({ method }) => method !== 'GET');
    const own = types.filter(({ module }) => module === undefined);
    const builder = this.#tool('builder');
    const objects = own.filter(({ kind }) => kind === 'object');
    const statements = [
      ...types.flatMap((type) => this.#writeBody(type)),
      ...endpoints.map((endpoint) => this.#writeEndpoint(endpoint)),
      ...loaders.filter(({ get }) => get !== undefined).map((loader) => this.#writeLoader(loader)),
      ...own.filter(({ kind }) => kind === 'enum').map((type) => this.#writeEnum(type)),
      ...objects.map((type) => `const ${type.name} = ${builder}.objectRef<${type.name}Body>(${quote(type.name)});`),
      ...own.filter(({ kind }) => kind !== 'enum').map((type) => this.#writeType(type)),
      ...(queries.length === 0
        ? []
        : [`${builder}.queryFields((t) => (${braces(queries.map((query) => this.#writeQuery(query)))}));`]),
      ...mutations.map((mutation) => this.#writeMutation(mutation)),
    ];
    const links = new Set(objects.flatMap(({ fields }) => fields.map(({ link }) => link)));
    const modules = [...new Set(types.flatMap(({ module }) => module ?? []))].toSorted();
    const uses = modules.map((module) => {
      const loaded = loaders.filter((loader) => loader.get === undefined && links.has(loader));
      const used = [...types, ...loaded.map(({ name, type }) => ({ name, module: type.module }))];
      const names = used.filter((each) => each.module === module).map((each) => each.name);
      return `const { ${names.join(', ')} } = ${this.#tool('use')}(${module});`;
    });
    const tools = [...this.#tools].toSorted().join(', ');
    return `import { ${['defineModule', ...modules].toSorted().join(', ')} } from 'notigraph/modules';

// TODO: Check what the document doesn't say: the scopes, which are named after the paths; \`repeatable\` for writes that can be applied twice,
// \`empties\` and \`cached\` for reads that may be stored, and \`multiline\` for texts that may have line breaks.

export default defineModule(${quote(name)}, (toolkit) => {
${indent([`const { ${tools} } = toolkit;`, ...uses].join('\n'))}

${statements.map(indent).join('\n\n')}
});
`;
  }

  #tool(name: string): string {
    this.#tools.add(name);
    return name;
  }

  #scopes(scope: string): string {
    return `${this.#tool('requireScopes')}(${quote(scope)})`;
  }

  /** Writes the type of a body, or of the values of an enum. */
  #writeBody({ kind, name, module, fields, values }: TypePlan): string[] {
    if (kind === 'enum') {
      return [`type ${name}Body = ${values.map(({ value }) => quote(value)).join(' | ')};`];
    }
    return [
      module === undefined
        ? `interface ${name}Body ${bodyOf(fields, kind === 'input')}`
        : `type ${name}Body = typeof ${name}.$inferType;`,
    ];
  }

  #writeEndpoint({ method, route, constant, query, body, wholeBody, options, response }: EndpointPlan): string {
    const taken = [
      ...(query.length === 0 ? [] : [`query: ${bodyOf(query, true)}`]),
      ...(body.length === 0 ? [] : [`body: ${bodyOf(body, true)}`]),
      ...(wholeBody === undefined ? [] : [`body: ${codeOf(wholeBody.value)}`]),
    ];
    const set = Object.entries(options).filter(([, value]) => value !== undefined);
    const args = set.length === 0 ? '' : `, ${braces(set.map(([name, value]) => `${name}: ${literal(value)}`))}`;
    const result =
      response === undefined || options.expect === 'text'
        ? ''
        : `.returns<${codeOf(response)}${response.isNullable && response.type !== 'JSON' ? ' | null' : ''}>()`;
    return `const ${constant} = ${this.#tool('endpoint')}(${quote(`${method} ${route}`)}${args})${taken.length === 0 ? '' : `.takes<${braces(taken, ';')}>()`}${result};`;
  }

  #writeLoader({ name, type, get, key = '', many }: LoaderPlan): string {
    return `const ${name} = ${this.#tool('loader')}<${type.name}Body>(${object({
      name: quote(name),
      get: get?.constant,
      many: many && object({ endpoint: many.constant, keyOf: `(record) => record${memberAccess(key)}` }),
    })});`;
  }

  #writeEnum({ name, description, values }: TypePlan): string {
    const members = values.map((each) => `${each.name}: { value: ${quote(each.value)} }`);
    return `const ${name} = ${this.#tool('builder')}.enumType(${quote(name)}, ${object({
      description: quote(description),
      values: `${braces(members)} as const`,
    })});`;
  }

  #writeType(type: TypePlan): string {
    const { name, kind, description, fields, todos, noun, isRecord } = type;
    const members =
      kind === 'input'
        ? fields.map((field) => this.#writeInput(field, 't.field'))
        : fields.flatMap((field) => [
            this.#writeExposed(field, field.source, `${noun}-secrets:read`),
            ...this.#writeLink(field),
          ]);
    const begin =
      kind === 'input' ? `const ${name} = ${this.#tool('builder')}.inputType(${quote(name)}, ` : `${name}.implement(`;
    const options = object({
      description: quote(description),
      extensions: isRecord && kind === 'object' ? this.#scopes(`${noun}:read`) : undefined,
      fields: arrow('t', braces(members)),
    });
    return commented(todos, `${begin}${options});`);
  }

  /** Writes a field that returns a member of the body. */
  #writeExposed(field: FieldPlan, source: string, secretScope = ''): string {
    const { name, value, description, isDeprecated, isSecret = false, todos } = field;
    const code = `${name}: t.expose(${quote(source)}, ${object({
      type: typeOf(value),
      nullable: nullabilityOf(value, isNullable(field)),
      extensions: isSecret ? this.#scopes(secretScope) : undefined,
      description: quote(description),
      deprecationReason: isDeprecated ? DEPRECATED : undefined,
    })})`;
    return commented(
      isSecret ? [...todos, 'It is named like a secret: remove it, or its scope if it is none.'] : todos,
      code,
    );
  }

  /** Writes the field with the record whose id a field has. */
  #writeLink({ source, value, link, isSecret }: FieldPlan): string[] {
    if (link === undefined || isSecret) {
      return [];
    }
    const { name, noun, type, get } = link;
    const id = `parent${memberAccess(source)}`;
    return [
      `${noun}: t.field(${object({
        type: type.name,
        nullable: 'true',
        extensions: `${this.#tool('declareCalls')}(${quote('1 per distinct id in the operation')}, ${object({ loader: name, reason: quote('One per distinct id, which the service sends.') })})`,
        description: quote(
          `The record with this id, or null if it does not exist.\n\nREST: \`${get === undefined ? 'that of the built-in field' : `GET ${get.route}`}\`.`,
        ),
        resolve: `(parent, _args, ctx) =>\n  ${id} == null ? null : ${this.#tool('loadBySentId')}(${value.type === 'Int' || value.type === 'Float' ? `String(${id})` : id}, (id) => ctx.loaders.load(${name}, id))`,
      })})`,
    ];
  }

  /** Writes an argument, or a field of an input. */
  #writeInput(field: FieldPlan, method: 't.field' | 't.arg'): string {
    const { name, value, description, todos } = field;
    const code = `${name}: ${method}(${object({
      type: typeOf(value),
      required: field.isRequired && !value.isNullable ? 'true' : undefined,
      description: quote(description),
    })})`;
    return commented(todos, code);
  }

  /** Writes the arguments of a call from those of a field. */
  #writeArgs({ params, query, headers, body, wholeBody }: EndpointPlan, from: 'args' | 'input'): string {
    const toMember = ({ source, name }: FieldPlan) => `${property(source)}: ${from}.${name}`;
    const group = (name: string, fields: readonly FieldPlan[]) =>
      fields.length === 0 ? [] : [`${name}: ${braces(fields.map(toMember))}`];
    return braces([
      ...params.map(toMember),
      ...group('query', query),
      ...group('headers', headers),
      ...group('body', body),
      ...(wholeBody === undefined ? [] : [toMember(wholeBody)]),
    ]);
  }

  /** Writes checks of the ranges of parameters. */
  #writeRanges({ query }: EndpointPlan, from: 'args' | 'input'): string[] {
    return query.flatMap((field) => {
      const { name, range } = field;
      const value = `${from}.${name}${isNullable(field) ? ` ?? ${range?.[0]}` : ''}`;
      return range === undefined
        ? []
        : [`${this.#tool('assertRange')}(${quote(name)}, ${value}, ${range[0]}, ${range[1]});`];
    });
  }

  #writeQuery(endpoint: EndpointPlan): string {
    const {
      method,
      route,
      field,
      constant,
      description,
      isDeprecated,
      noun,
      params,
      response = json(''),
      loader,
      todos,
    } = endpoint;
    const inputs = inputsOf(endpoint);
    const [param] = params;
    const read =
      loader === undefined
        ? `ctx.upstream.read(${constant}, ${this.#writeArgs(endpoint, 'args')})`
        : param === undefined
          ? `ctx.loaders.list(${loader.name})`
          : `ctx.loaders.load(${loader.name}, args.${param.name})`;
    const scopes = this.#scopes(`${noun}:read`);
    const calls = loader?.many ? '1 for the whole operation' : '1 per distinct id in the operation';
    const body = [...this.#writeRanges(endpoint, 'args'), `return ${read};`];
    const code = `${field}: t.field(${object({
      type: typeOf(response),
      nullable: nullabilityOf(response, true),
      extensions: loader === undefined ? scopes : `{ ...${scopes}, ...${this.#tool('declareCalls')}(${quote(calls)}) }`,
      description: quote(`${description}\n\nREST: \`${method} ${route}\`.`),
      deprecationReason: isDeprecated ? DEPRECATED : undefined,
      args: inputs.length === 0 ? undefined : braces(inputs.map((input) => this.#writeInput(input, 't.arg'))),
      resolve: `(_root, ${inputs.length === 0 ? '_args' : 'args'}, ctx) => {\n${indent(body.join('\n'))}\n}`,
    })})`;
    return commented([...todos, ...todosOf(response)], code);
  }

  #writeMutation(endpoint: EndpointPlan): string {
    const {
      field,
      constant,
      description,
      isDeprecated,
      noun,
      options,
      params,
      response,
      resource,
      canConflict,
      todos,
    } = endpoint;
    const inputs = inputsOf(endpoint);
    const key = params.at(-1);
    const type = response?.type;
    const done = response === undefined ? doneOf(endpoint) : resultOf(response);
    const failures = object({
      notFound:
        key &&
        object({
          resource: quote(typeof type === 'object' && !response?.isList ? type.name : resource),
          id: `(input) => input.${key.name}`,
        }),
      conflict: canConflict && options.idempotent === undefined ? 'true' : undefined,
    });
    const send = `await send(${this.#writeArgs(endpoint, 'input')})`;
    const value = key === undefined ? '{ accepted: true }' : `{ ${key.name}: input.${key.name} }`;
    const statements = [
      ...this.#writeRanges(endpoint, 'input'),
      ...(response === undefined ? [`${send};`, `return ${value};`] : [`return { ${done.name}: ${send} };`]),
    ];
    const code = `${this.#tool('mutation')}(${quote(field)}, ${object({
      description: quote(description),
      scope: quote(`${noun}:write`),
      endpoint: constant,
      deprecationReason: isDeprecated ? DEPRECATED : undefined,
      input:
        inputs.length === 0
          ? undefined
          : object({
              description: quote(`The input of \`${field}\`.`),
              fields: arrow('t', braces(inputs.map((input) => this.#writeInput(input, 't.field')))),
            }),
      failures: failures === '{}' ? undefined : failures,
      resolve: `async (${inputs.length === 0 ? '_input' : 'input'}, send) => {\n${indent(statements.join('\n'))}\n}`,
      success: object({
        description: quote('The service applied the change.'),
        fields: arrow('t', braces([this.#writeExposed(done, done.source)])),
      }),
    })});`;
    return commented(todos, code);
  }
}

/** Returns the access to a member. */
const memberAccess = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${quote(name)}]`);

const todosOf = ({ todo }: Value): string[] => (todo === undefined ? [] : [todo]);

/** Field of a success without a value. */
const ACCEPTED: FieldPlan = {
  name: 'accepted',
  source: 'accepted',
  value: scalar('Boolean'),
  isRequired: true,
  description: 'Always true.',
  isDeprecated: false,
  range: undefined,
  todos: [],
};

/** Returns the field of a success that names the record, if the response has none. */
function doneOf({ method, params }: EndpointPlan): FieldPlan {
  const key = params.at(-1);
  const first = method === 'DELETE' ? ['deleted'] : key?.name === 'id' ? ['requested'] : [];
  return key === undefined
    ? ACCEPTED
    : { ...key, name: toCamel([...first, ...toWords(key.name)]), source: key.name, todos: [] };
}

/** Returns the field of a success with the value of the response. */
function resultOf(value: Value): FieldPlan {
  const isObject = typeof value.type !== 'string' && value.type.kind === 'object';
  const name = isObject ? toCamel(toWords(nameOf(value))) + (value.isList ? 'List' : '') : 'result';
  return {
    ...ACCEPTED,
    name,
    source: name,
    value,
    description: isObject ? 'The record.' : 'The response of the service.',
    todos: todosOf(value),
  };
}
