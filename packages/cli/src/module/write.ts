// Writes the code of a module, with one member per line. Formatters of users change what they like.

import { isRecord, recordOf } from '../../../../src/lib/is-record.ts';
import { camelOf, Names, nounOf, toCamel, toPascal, toWords } from './names.ts';
import type { ModulePlan } from './plan.ts';
import type { EndpointPlan, LoaderPlan, MemberPlan, TypePlan, Value } from './types.ts';
import { describe, isText, json, newField, objectOf, scalar } from './types.ts';

/** Parts of the toolkit that the code can use. */
const TOOLS = ['builder', 'declareCalls', 'endpoint', 'loadBySentId', 'loader', 'mutation', 'requireScopes', 'use'];

/** Returns the file of a module. Texts of the document are in it only as literals, and as names that were converted. */
export function writeModule({ name, endpoints, types, loaders }: ModulePlan): string {
  const own = types.filter(({ module }) => module === undefined);
  const objects = own.filter(({ kind }) => kind === 'object');
  const queries = endpoints.filter(({ method }) => method === 'GET');
  const links = new Set(objects.flatMap(({ fields }) => fields.map(({ link }) => link)));
  const taken = loaders.filter((loader) => loader.get === undefined && links.has(loader));
  const foreign = types.filter(({ module }) => module !== undefined);
  const statements = [
    ...foreign.map(({ name, module }) => `const { ${name} } = use(${module});`),
    ...taken.map(({ name, type }) => `const { ${name} } = use(${type.module});`),
    ...endpoints.map(writeEndpoint),
    ...loaders.flatMap((loader) => (loader.get ? writeLoader(loader, loader.get) : [])),
    ...objects.map((type) => `const ${type.name} = builder.objectRef<${type.name}Body>(${quote(type.name)});`),
    ...own.map(writeType),
    ...(queries.length === 0 ? [] : [`builder.queryFields((t) => (${braces(queries.map(writeQuery))}));`]),
    ...endpoints.filter(({ method }) => method !== 'GET').map(writeMutation),
    `return ${braces([...objects, ...loaders.filter(({ get }) => get)].map(({ name }) => name))};`,
  ];
  const code = statements.join('\n').replace(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/g, ''); // Literals can name tools.
  const tools = TOOLS.filter((tool) => new RegExp(`\\b${tool}[(.<]`).test(code));
  const imported = new Set(['defineModule', ...foreign.flatMap(({ module }) => module ?? [])]);
  return `import ${braces([...imported].toSorted())} from 'notigraph/modules';

// TODO: Check what the document doesn't say: the scopes, which are named after the paths; \`repeatable\` for writes that can be applied twice,
// \`empties\` and \`cached\` for reads that may be stored, and \`multiline\` for texts that may have line breaks.

${types.map((type) => `${writeBody(type)}\n\n`).join('')}export default defineModule(${quote(name)}, (toolkit) => {
${[`const ${braces(tools)} = toolkit;`, ...statements].map(indent).join('\n\n')}
});
`;
}

/** Types of TypeScript by scalar, other than texts and objects. */
const CODES: Partial<Record<string, string>> = { Int: 'number', Float: 'number', Boolean: 'boolean', JSON: 'unknown' };

/** Whether clients may leave a field out, or get null. */
const isNullable = ({ isRequired, value }: MemberPlan) => !isRequired || value.isNullable || value.type === 'JSON';

const nameOf = ({ type }: Value): string => (isText(type) ? quote(type) : type.name);

const typeOf = (value: Value): string => (value.isList ? `[${nameOf(value)}]` : nameOf(value));

function codeOf({ type, isList }: Value, orNull = ''): string {
  const text = type === 'JSONObject' ? 'Record<string, unknown>' : 'string';
  const code = isText(type) ? (CODES[type] ?? text) : `${type.name}Body`;
  return isList ? `${code}[]${orNull}` : code === 'unknown' ? code : code + orNull;
}

/** Returns the type of an object. Members of a request can have any value that an input has. */
function bodyOf(fields: readonly MemberPlan[], isRequest: boolean): string {
  const members = fields.map((field) => {
    const { source, value, isRequired } = field;
    const isOptional = isRequest ? isNullable(field) : !isRequired;
    const orNull = isRequest ? isOptional && ' | null | undefined' : value.isNullable && ' | null';
    return `${property(source)}${isOptional ? '?' : ''}: ${codeOf(value, orNull || '')}`;
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

const describeField = ({ method, route, operation }: EndpointPlan) =>
  describe(operation, `Calls \`${method} ${route}\`.`);

const requireScope = (scope: string): string => `requireScopes(${quote(scope)})`;

const PER_ID = quote('1 per distinct id in the operation');

/** Returns the type of a body. It is outside of the module's function, so that declarations of what that returns can refer to it. */
const writeBody = ({ kind, name, module, fields, values }: TypePlan): string =>
  module !== undefined
    ? `type ${name}Body = ReturnType<typeof ${module}.define>['${name}']['$inferType'];`
    : kind === 'enum'
      ? `type ${name}Body = ${values.map(({ value }) => quote(value)).join(' | ')};`
      : `interface ${name}Body ${bodyOf(fields, kind === 'input')}`;

function writeEndpoint({ method, route, field, inputs, hasWholeBody, options, response }: EndpointPlan): string {
  const taken = (['query', 'body'] as const).flatMap((place) => {
    const members = inputs.filter((input) => input.place === place);
    const [whole] = place === 'body' && hasWholeBody ? members : [];
    return members.length === 0 ? [] : `${place}: ${whole ? codeOf(whole.value) : bodyOf(members, true)}`;
  });
  const given = [quote(`${method} ${route}`), literal(options)].filter((each) => each !== '{}').join(', ');
  const takes = taken.length === 0 ? '' : `.takes<${braces(taken, ';')}>()`;
  const body = response && options.expect !== 'text' ? codeOf(response, response.isNullable ? ' | null' : '') : '';
  return `const ${field}Endpoint = endpoint(${given})${takes}${body && `.returns<${body}>()`};`;
}

function writeLoader({ name, type, key = '', many }: LoaderPlan, get: EndpointPlan): string {
  const list = many && object({ endpoint: `${many.field}Endpoint`, keyOf: `(record) => record${memberAccess(key)}` });
  const options = object({ name: quote(name), get: `${get.field}Endpoint`, many: list });
  return `const ${name} = loader<${type.name}Body>(${options});`;
}

function writeType({ name, kind, description, fields, values, todo, noun, isRecord }: TypePlan): string {
  const members = fields.flatMap((field) =>
    kind === 'input'
      ? writeInput(field, 't.field')
      : [writeExposed(field), ...(field.link ? [writeLink(field, field.link)] : [])],
  );
  const options = object({
    description: quote(description),
    extensions: isRecord ? requireScope(`${noun}:read`) : undefined,
    ...(kind === 'enum'
      ? { values: `${braces(values.map((each) => `${each.name}: { value: ${quote(each.value)} }`))} as const` }
      : { fields: `(t) => (${braces(members)})` }),
  });
  const declare = kind === 'object' ? `${name}.implement(` : `const ${name} = builder.${kind}Type(${quote(name)}, `;
  return commented([todo], `${declare}${options});`);
}

function writeInput({ name, value, isRequired, description }: MemberPlan, method: 't.field' | 't.arg'): string {
  const required = isRequired && !value.isNullable ? 'true' : undefined;
  const options = object({ type: typeOf(value), required, description: quote(description) });
  return commented([value.todo], `${name}: ${method}(${options})`);
}

function writeExposed(field: MemberPlan): string {
  const { name, source, value, secretScope } = field;
  const options = object({
    type: typeOf(value),
    nullable: nullabilityOf(value, isNullable(field)),
    extensions: secretScope && requireScope(secretScope),
    description: quote(field.description),
    deprecationReason: deprecationOf(field.isDeprecated),
  });
  const todo = secretScope && 'It is named like a secret: remove it, or its scope if it is none.';
  return commented([value.todo, todo], `${name}: t.expose(${quote(source)}, ${options})`);
}

function writeLink({ source, value }: MemberPlan, { name, noun, type, get }: LoaderPlan): string {
  const sent = `parent${memberAccess(source)}`;
  const id = value.type === 'Int' || value.type === 'Float' ? `String(${sent})` : sent;
  const reason = quote('One per distinct id, which the service sends.');
  const rest = get === undefined ? '' : `\n\nREST: \`GET ${get.route}\`.`;
  const options = object({
    type: type.name,
    nullable: 'true',
    extensions: `declareCalls(${PER_ID}, ${object({ loader: name, reason })})`,
    description: quote(`The record with this id, or null if it does not exist.${rest}`),
    resolve: `(parent, _args, ctx) =>\n  ${sent} == null ? null : loadBySentId(${id}, (id) => ctx.loaders.load(${name}, id))`,
  });
  return `${noun}: t.field(${options})`;
}

function writeQuery(endpoint: EndpointPlan): string {
  const { method, route, field, noun, inputs, response = json(''), loader, operation, todo } = endpoint;
  const [param] = inputs;
  const scope = requireScope(`${noun}:read`);
  const calls = loader === undefined ? quote('1') : loader.many ? quote('1 for the whole operation') : PER_ID;
  const load = param === undefined ? `list(${loader?.name})` : `load(${loader?.name}, args.${param.name})`;
  const read = loader ? `loaders.${load}` : `upstream.read(${field}Endpoint, ${writeArgs(endpoint, 'args')})`;
  const options = object({
    type: typeOf(response),
    nullable: nullabilityOf(response, true),
    extensions: `{ ...${scope}, ...declareCalls(${calls}) }`,
    description: quote(`${describeField(endpoint)}\n\nREST: \`${method} ${route}\`.`),
    deprecationReason: deprecationOf(operation.deprecated),
    args: param && braces(inputs.map((input) => writeInput(input, 't.arg'))),
    resolve: `(_root, ${param ? 'args' : '_args'}, ctx) => ctx.${read}`,
  });
  return commented([todo, response.todo], `${field}: t.field(${options})`);
}

function writeMutation(endpoint: EndpointPlan): string {
  const { route, field, noun, inputs, response, operation, todo } = endpoint;
  const input = inputs.length > 0 ? 'input' : '_input';
  const key = inputs.findLast(({ place }) => place === 'path');
  const done = doneOf(endpoint, key);
  const record = quote(toPascal(nounOf(route.slice(0, route.lastIndexOf('}') + 1))));
  const canConflict = Object.hasOwn(recordOf(operation.responses), '409') && !endpoint.options.idempotent;
  const failures = object({
    notFound: key && object({ resource: record, id: `(input) => input.${key.name}` }),
    conflict: canConflict ? 'true' : undefined,
  });
  const fields = `(t) => (${braces(inputs.map((each) => writeInput(each, 't.field')))})`;
  const findFirst = (name: string) => inputs.find(({ source }) => source === name); // That of the path, if the body has a namesake.
  const renamed = inputs.filter((each) => each.name !== each.source && findFirst(each.source) === each);
  const send = `await send(${writeArgs(endpoint, 'input')})`;
  const value = key ? `{ ${key.name}: input.${key.name} }` : '{ accepted: true }';
  const options = object({
    description: quote(describeField(endpoint)),
    scope: quote(`${noun}:write`),
    endpoint: `${field}Endpoint`,
    deprecationReason: deprecationOf(operation.deprecated),
    input: inputs.length > 0 ? object({ description: quote(`The input of \`${field}\`.`), fields }) : undefined,
    failures: failures === '{}' ? undefined : failures,
    inputPath:
      renamed.length === 0
        ? undefined
        : braces(renamed.map(({ source, name }) => `${property(source)}: ${quote(name)}`)),
    resolve: `async (${input}, send) => ${response ? `({ ${done.name}: ${send} })` : `{\n${indent(`${send};\nreturn ${value};`)}\n}`}`,
    success: object({
      description: quote('The service applied the change.'),
      fields: `(t) => (${braces([writeExposed(done)])})`,
    }),
  });
  return commented([todo], `mutation(${quote(field)}, ${options});`);
}

/** Writes the arguments of a call from those of a field. */
function writeArgs({ inputs, hasWholeBody }: EndpointPlan, from: 'args' | 'input'): string {
  const at = (place: MemberPlan['place']) =>
    inputs.flatMap((input) => (input.place === place ? `${property(input.source)}: ${from}.${input.name}` : []));
  const groups = (['query', 'headers', 'body'] as const).flatMap((place) => {
    const members = at(place);
    return members.length === 0 || (place === 'body' && hasWholeBody) ? members : `${place}: ${braces(members)}`;
  });
  return braces([...at('path'), ...groups]);
}

/** Returns the field of a success with the response, or with the id of the record if there is none. */
function doneOf({ method, response }: EndpointPlan, key: MemberPlan | undefined): MemberPlan {
  if (response !== undefined) {
    const type = objectOf(response);
    const name = type && camelOf(type.name) + (response.isList ? 'List' : '');
    return newField(new Names(), name ?? 'result', response, { description: 'The response of the service.' });
  }
  const first = method === 'DELETE' ? ['deleted'] : key?.name === 'id' ? ['requested'] : [];
  return key === undefined
    ? newField(new Names(), 'accepted', scalar('Boolean'), { description: 'Always true.' })
    : { ...key, name: toCamel([...first, ...toWords(key.name)]), source: key.name };
}

/** Indents lines. Literals have no line breaks. */
const indent = (code: string): string => code.replace(/^(?=.)/gm, '  ');

const braces = (members: readonly string[], end: ',' | ';' = ','): string =>
  members.length === 0 ? '{}' : `{\n${members.map((member) => `${indent(member)}${end}\n`).join('')}}`;

/** Returns an object whose undefined members are left out. */
const object = (members: object): string =>
  braces(Object.entries(members).flatMap(([name, code]) => (code === undefined ? [] : [`${name}: ${code}`])));

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

/** Returns a value as code. Undefined members are left out. */
const literal = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(literal).join(', ')}]`
    : isRecord(value)
      ? object(Object.fromEntries(Object.entries(value).map(([name, each]) => [property(name), each && literal(each)])))
      : isText(value)
        ? quote(value)
        : String(value);
