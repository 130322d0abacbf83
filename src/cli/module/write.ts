import {
  arrow,
  block,
  type Code,
  call,
  commented,
  member,
  object,
  objectType,
  print,
  property,
  quote,
  union,
  WIDTH,
} from './code.ts';
import { toCamel, toWords } from './names.ts';
import type { EndpointPlan, EnumPlan, FieldPlan, ModulePlan, TypePlan, Value } from './plan.ts';

/** Returns the file of a module. Texts of the document are in it only as literals, and as names that were converted. */
export function writeModule({ name, endpoints, types, enums }: ModulePlan): string {
  const queries = endpoints.filter(({ method }) => method === 'GET');
  const mutations = endpoints.filter(({ method }) => method !== 'GET');
  const tools = [
    ...(queries.length + types.length + enums.length > 0 ? ['builder'] : []),
    'endpoint',
    ...(mutations.length > 0 ? ['mutation'] : []),
    ...(queries.length > 0 ? ['requireScopes'] : []),
  ];
  const hasNoArgs = endpoints.some((endpoint) => inputsOf(endpoint).length === 0);
  const interfaces = [
    ...enums.map((each) => `${print(writeValues(each), '', 0, 1)};\n`),
    ...types.map(writeBody),
    ...mutations.filter(({ body }) => body.length > 0).map(writeRequest),
  ];
  const statements: Code[] = [
    ...endpoints.map(writeEndpoint),
    ...enums.map(writeEnum),
    ...(types.length === 0 ? [] : [types.map(writeRef).join(';\n  ')]),
    ...types.map(writeType),
    ...(queries.length === 0
      ? []
      : [call('builder.queryFields', [arrow('(t)', object(queries.map(writeQuery), ['(', ')']))])]),
    ...mutations.map(writeMutation),
  ];
  const code = statements.map((statement) => `  ${print(statement, '  ', 0, 1)};\n`);
  return `import { defineModule${hasNoArgs ? ', type NoArgs' : ''} } from 'notigraph/modules';

// TODO: Check what the document doesn't say: the scopes, which are named after the paths; \`repeatable\` for writes that can be applied twice,
// \`multiline\` for texts that may have line breaks, and \`cached\` for reads that may be stored.

${interfaces.join('\n')}${interfaces.length === 0 ? '' : '\n'}export default defineModule(${quote(name)}, ({ ${tools.join(', ')} }) => {
${code.join('\n')}});
`;
}

const toTodos = (todos: readonly string[]): string[] => todos.map((todo) => `// TODO: ${todo}`);

const isNullable = ({ isRequired, value }: FieldPlan): boolean =>
  !isRequired || value.isNullable || value.type === 'JSON';

/** Returns the types of a value in TypeScript. */
function codesOf({ value, isRequired }: FieldPlan, isRequest: boolean): string[] {
  const code = value.isList ? `${value.code}[]` : value.code;
  return code === 'unknown'
    ? [code]
    : [code, ...(value.isNullable ? ['null'] : []), ...(isRequest && !isRequired ? ['undefined'] : [])];
}

const writeValues = ({ name, values }: EnumPlan): Code =>
  union(
    `type ${name}Value =`,
    values.map(({ value }) => quote(value)),
  );

const writeMember = (field: FieldPlan, isRequest: boolean): string =>
  `  ${print(union(`${property(field.source)}${field.isRequired ? '' : '?'}:`, codesOf(field, isRequest)), '  ', 0, 1)};\n`;

const writeBody = ({ name, fields }: TypePlan): string =>
  `interface ${name}Body {\n${fields.map((field) => writeMember(field, false)).join('')}}\n`;

const writeRequest = ({ bodyType, body }: EndpointPlan): string =>
  `interface ${bodyType} {\n${body.map((field) => writeMember(field, true)).join('')}}\n`;

const inputsOf = ({ params, query, body, wholeBody }: EndpointPlan): FieldPlan[] => [
  ...params,
  ...query,
  ...body,
  ...(wholeBody === undefined ? [] : [wholeBody]),
];

function writeEndpoint(endpoint: EndpointPlan): Code {
  const { method, route, constant, params, query, body, bodyType, wholeBody, expect, response, isIdempotent } =
    endpoint;
  const args = [
    ...params.map(({ source }) => `${source}: string`),
    ...(query.length === 0
      ? []
      : [
          member(
            'query',
            objectType(
              query.map(
                (field) =>
                  `${property(field.source)}: ${[field.value.code, ...(isNullable(field) ? ['undefined'] : [])].join(' | ')}`,
              ),
            ),
          ),
        ]),
    ...(body.length === 0 ? [] : [`body: ${bodyType}`]),
    ...(wholeBody === undefined ? [] : ['body: Record<string, unknown>']),
  ];
  const result = response === undefined ? 'undefined' : resultOf(response);
  const options = [
    ...(expect === 'record' ? [] : [member('expect', quote(expect))]),
    ...(isIdempotent ? ['idempotent: true'] : []),
  ];
  const begin = `const ${constant} = endpoint`;
  return call(
    begin,
    [quote(`${method} ${route}`), ...(options.length === 0 ? [] : [object(options)])],
    [args.length === 0 ? 'NoArgs' : objectType(args), result],
  );
}

const resultOf = ({ code, isList, isNullable }: Value): string =>
  `${code}${isList ? '[]' : ''}${isNullable && code !== 'unknown' ? ' | null' : ''}`;

const writeEnum = ({ name, description, values }: EnumPlan): Code =>
  call(`const ${name} = builder.enumType`, [
    quote(name),
    object([
      member('description', quote(description)),
      member(
        'values',
        object(
          values.map((each) => member(each.name, object([member('value', quote(each.value))]))),
          ['', ' as const'],
        ),
      ),
    ]),
  ]);

/** Longest literal that formatters don't put on a line of its own. */
const SHORT = 30;

function writeRef({ name }: TypePlan): string {
  const begin = `const ${name} =`;
  const ref = call(`builder.objectRef<${name}Body>`, [quote(name)]);
  const code = print(ref, '  ', begin.length + 1, 1);
  const [firstLine = '', ...others] = code.split('\n');
  const isBelow = others.length > 0 && (quote(name).length <= SHORT || `  ${begin} ${firstLine}`.length > WIDTH);
  return isBelow ? `${begin}\n    ${print(ref, '    ', 0, 1)}` : `${begin} ${code}`;
}

function writeType({ name, description, fields, todos }: TypePlan): Code {
  const code = call(`${name}.implement`, [
    object([
      member('description', quote(description)),
      member(
        'fields',
        arrow(
          '(t)',
          object(
            fields.map((field) => writeExposed(field, field.source)),
            ['(', ')'],
          ),
        ),
      ),
    ]),
  ]);
  return commented(toTodos(todos), code);
}

/** Writes a field that returns a member of the body. */
function writeExposed(field: FieldPlan, source: string): Code {
  const { name, value, description, isDeprecated, todos } = field;
  const [method, type] = methodOf(value, 'expose');
  const options = [
    ...type,
    ...(isNullable(field) ? ['nullable: true'] : []),
    member('description', quote(description)),
    ...(isDeprecated ? [DEPRECATED] : []),
  ];
  return commented(toTodos(todos), member(name, call(`t.${method}`, [quote(source), object(options)])));
}

const DEPRECATED = member('deprecationReason', quote('The service deprecates it.'));

/** Writes an argument, or a field of an input. */
function writeInput(field: FieldPlan, builder: 't' | 't.arg'): Code {
  const { name, value, isRequired, description, todos } = field;
  const [method, type] = methodOf(value, builder === 't' ? 'field' : '');
  const options = [
    ...type,
    ...(isRequired && !value.isNullable ? ['required: true'] : []),
    member('description', quote(description)),
  ];
  return commented(
    toTodos(todos),
    member(name, call(method === '' ? builder : `${builder}.${method}`, [object(options)])),
  );
}

/** Scalars that have methods of their own. */
const METHODS: Readonly<Record<string, string>> = {
  ID: 'ID',
  String: 'String',
  Int: 'Int',
  Float: 'Float',
  Boolean: 'Boolean',
};

/** Returns the method that declares a field, and its option `type`, if it has none for the type. */
function methodOf({ type, kind, isList }: Value, general: string): [method: string, type: string[]] {
  const name = kind === 'scalar' ? METHODS[type] : undefined;
  if (name !== undefined) {
    const method = general === 'expose' ? `expose${name}` : name.toLowerCase();
    return [`${method}${isList ? 'List' : ''}`, []];
  }
  const code = kind === 'scalar' ? quote(type) : type;
  return [general, [`type: ${isList ? `[${code}]` : code}`]];
}

/** Writes the arguments of a call from those of a field. */
function writeArgs({ params, query, body, wholeBody }: EndpointPlan, from: 'args' | 'input'): Code {
  const toValue = (field: FieldPlan): string => {
    const { name, isRequired, value } = field;
    if (isRequired && !value.isNullable) {
      return `${from}.${name}`;
    }
    return `${from}.${name}${value.isNullable ? (isRequired ? ' ?? null' : '') : ' ?? undefined'}`;
  };
  const toMember = (field: FieldPlan) => member(property(field.source), toValue(field));
  return object([
    ...params.map(toMember),
    ...(query.length === 0
      ? []
      : [
          member(
            'query',
            object(
              query.map((field) =>
                member(property(field.source), `${from}.${field.name}${isNullable(field) ? ' ?? undefined' : ''}`),
              ),
            ),
          ),
        ]),
    ...(body.length === 0 ? [] : [member('body', object(body.map(toMember)))]),
    ...(wholeBody === undefined ? [] : [toMember(wholeBody)]),
  ]);
}

function writeQuery(endpoint: EndpointPlan): Code {
  const { method, route, field, constant, description, isDeprecated, scope, response, todos } = endpoint;
  const inputs = inputsOf(endpoint);
  const type = response === undefined || response.kind === 'scalar' ? quote(response?.type ?? 'JSON') : response.type;
  const options = [
    `type: ${response?.isList ? `[${type}]` : type}`,
    'nullable: true',
    member('extensions', call('requireScopes', [quote(scope)])),
    member('description', quote(`${description}\n\nREST: \`${method} ${route}\`.`)),
    ...(isDeprecated ? [DEPRECATED] : []),
    ...(inputs.length === 0 ? [] : [member('args', object(inputs.map((input) => writeInput(input, 't.arg'))))]),
    member(
      'resolve',
      arrow(
        `(_root, ${inputs.length === 0 ? '_args' : 'args'}, ctx)`,
        call('ctx.upstream.read', [constant, writeArgs(endpoint, 'args')]),
      ),
    ),
  ];
  return commented(toTodos([...todos, ...todosOf(response)]), member(field, call('t.field', [object(options)])));
}

const todosOf = (value: Value | undefined): string[] => (value?.todo === undefined ? [] : [value.todo]);

function writeMutation(endpoint: EndpointPlan): Code {
  const { method, field, constant, description, isDeprecated, scope, params, response, resource } = endpoint;
  const inputs = inputsOf(endpoint);
  const key = params.at(-1);
  const failures = [
    ...(key === undefined
      ? []
      : [
          member(
            'notFound',
            object([member('resource', quote(resource)), member('id', arrow('(input)', `input.${key.name}`))]),
          ),
        ]),
    ...(endpoint.canConflict && !endpoint.isIdempotent ? ['conflict: true'] : []),
  ];
  const sent = call('await send', [writeArgs(endpoint, 'input')]);
  const signature = `(${inputs.length === 0 ? '_input' : 'input'}, send)`;
  const result = response === undefined ? undefined : resultFieldOf(response);
  const resolve =
    result === undefined
      ? block(`async resolve${signature}`, [
          sent,
          key === undefined ? 'return { accepted: true }' : `return { ${key.name}: input.${key.name} }`,
        ])
      : member('resolve', arrow(`async ${signature}`, object([member(result.name, sent)], ['(', ')'])));
  const done: FieldPlan = result ?? {
    ...(key ?? ACCEPTED),
    name:
      key === undefined
        ? 'accepted'
        : toCamel([
            ...(method === 'DELETE' ? ['deleted'] : key.name === 'id' ? ['requested'] : []),
            ...toWords(key.name),
          ]),
  };
  const code = call('mutation', [
    quote(field),
    object([
      member('description', quote(description)),
      member('scope', quote(scope)),
      member('endpoint', constant),
      ...(isDeprecated ? [DEPRECATED] : []),
      member(
        'input',
        object([
          member('description', quote(`The input of \`${field}\`.`)),
          member(
            'fields',
            arrow(
              inputs.length === 0 ? '()' : '(t)',
              object(
                inputs.map((input) => writeInput(input, 't')),
                ['(', ')'],
              ),
            ),
          ),
        ]),
      ),
      ...(failures.length === 0 ? [] : [member('failures', object(failures))]),
      resolve,
      member(
        'success',
        object([
          member('description', quote('The service applied the change.')),
          member(
            'fields',
            arrow('(t)', object([writeExposed(done, result?.name ?? key?.name ?? 'accepted')], ['(', ')'])),
          ),
        ]),
      ),
    ]),
  ]);
  return commented(toTodos(endpoint.todos), code);
}

/** Field of a success without a value. */
const ACCEPTED: FieldPlan = {
  name: 'accepted',
  source: 'accepted',
  value: { type: 'Boolean', kind: 'scalar', code: 'boolean', isList: false, isNullable: false },
  isRequired: true,
  description: 'Always true.',
  isDeprecated: false,
  todos: [],
};

/** Returns the field of a success with the value of the response. */
function resultFieldOf(value: Value): FieldPlan {
  const name = value.kind === 'object' ? toCamel(toWords(value.type)) + (value.isList ? 'List' : '') : 'result';
  return {
    ...ACCEPTED,
    name,
    source: name,
    value,
    description: value.kind === 'object' ? 'The record.' : 'The response of the service.',
    todos: todosOf(value),
  };
}
