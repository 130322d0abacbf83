import { type GraphQLSchema, isScalarType } from 'graphql';
import { isScope, type Scope } from '../../settings/scopes.ts';
import type { Expected } from '../../upstream/endpoint.ts';
import { CONTRACT } from '../../upstream/endpoints.ts';
import { listOf, type OpenApiDocument, type Operation, type Part, recordOf, Unsupported } from './document.ts';
import { findNameProblem, INHERITED, Names, toCamel, toPascal, toSingular, toUpper, toWords } from './names.ts';

/** Module to write. */
export interface ModulePlan {
  name: string;
  endpoints: EndpointPlan[];
  types: TypePlan[];
  enums: EnumPlan[];
  skipped: Skip[];
}

/** Part of the document that is not written. */
export interface Skip {
  part: string;
  /** Clause. */
  reason: string;
}

/** Type of a value, in GraphQL and in TypeScript. */
export interface Value {
  /** Name of a scalar, or of the constant with the type. */
  type: string;
  kind: 'scalar' | 'enum' | 'object';
  /** Type of one value. */
  code: string;
  isList: boolean;
  isNullable: boolean;
  /** Decision to take: a sentence. */
  todo?: string | undefined;
}

/** Object type, with an interface of the body. */
export interface TypePlan {
  name: string;
  description: string;
  fields: FieldPlan[];
  todos: string[];
}

/** Field of an object type or an input. */
export interface FieldPlan {
  name: string;
  /** Name in the document. */
  source: string;
  value: Value;
  isRequired: boolean;
  description: string;
  isDeprecated: boolean;
  todos: string[];
}

export interface EnumPlan {
  name: string;
  description: string;
  values: { name: string; value: string }[];
}

/** Endpoint with the field of `Query` or `Mutation` that calls it. */
export interface EndpointPlan {
  method: string;
  route: string;
  /** Name of the field. */
  field: string;
  /** Name of the constant with the endpoint. */
  constant: string;
  /** Name of the interface of the request's body. */
  bodyType: string;
  description: string;
  isDeprecated: boolean;
  scope: Scope;
  params: FieldPlan[];
  query: FieldPlan[];
  body: FieldPlan[];
  /** Field with the whole body, if it has no known members. */
  wholeBody: FieldPlan | undefined;
  expect: Expected;
  /** Value of the response; undefined if there is none. */
  response: Value | undefined;
  /** Name of the record in results and errors. */
  resource: string;
  isIdempotent: boolean;
  canConflict: boolean;
  todos: string[];
}

/** Schema within a document that becomes an object type. */
interface PendingType {
  plan: TypePlan;
  schema: Part;
  depth: number;
  /** Name of the field with the items of a page. @default that of the document */
  items: string | undefined;
}

/** Maximum depth of objects that have no name in the document. Deeper ones are JSON. */
const MAX_DEPTH = 6;

const TOO_DEEP = 'It is nested too deeply for types that have no names.';

/** Longest list of values that becomes an enum. */
const MAX_VALUES = 200;

/** Largest integer of GraphQL's Int. */
const MAX_INT = 2 ** 31 - 1;

/** Identifiers that the module uses for other purposes, and words of TypeScript. Names that are global are not shadowed. */
const RESERVED =
  'ADDS_ONLY args await break builder case catch class const continue ctx debugger default defineModule delete do else endpoint enum export extends false finally for function if implements import in input instanceof interface let mutation new null NoArgs package private protected public requireScopes return send static super switch t this throw true try typeof undefined var void while with yield _root _args'.split(
    ' ',
  );

/** Headers that the gateway sends itself, or that OpenAPI says to ignore. */
const OWN_HEADERS = ['accept', 'authorization', 'content-type', 'idempotency-key', 'x-request-id'];

/** Names of `CallArgs` and `WriteOptions`, which parameters of a path can't have. */
const RESERVED_PARAMS = ['query', 'body', 'idempotencyKey', 'isBulkItem'];

const SUFFIXES = /(?:Response)?(?:Dto|DTO)$/;

/** Plans the module of a document. What can't be written is skipped. */
export class Planner {
  readonly #document: OpenApiDocument;
  readonly #prefix: string;
  readonly #typeNames: Names;
  readonly #fieldNames: Names;
  readonly #constants: Names;
  readonly #types = new Map<Part, TypePlan>();
  readonly #pending: PendingType[] = [];
  readonly #enums = new Map<string, EnumPlan>();
  readonly #endpoints: EndpointPlan[] = [];
  readonly #skipped: Skip[] = [];
  readonly #forms = new Map(CONTRACT.map((endpoint) => [formOf(endpoint), 'a built-in field calls it']));

  /**
   * @param name name of the module
   * @param builtIn schema without modules, whose names are not used again
   */
  constructor(document: OpenApiDocument, name: string, builtIn: GraphQLSchema) {
    const types = builtIn.getTypeMap();
    const roots = [builtIn.getQueryType(), builtIn.getMutationType()];
    this.#document = document;
    this.#prefix = name;
    this.#typeNames = new Names([...Object.keys(types), 'Subscription']);
    this.#fieldNames = new Names(roots.flatMap((root) => Object.keys(root?.getFields() ?? {})));
    const scalars = Object.values(types).filter(isScalarType);
    this.#constants = new Names([...RESERVED, ...scalars.map((scalar) => scalar.name)]);
  }

  /** Plans all operations whose path matches. */
  plan(matches: (route: string) => boolean): ModulePlan {
    for (const [route, item] of this.#document.paths) {
      if (matches(route)) {
        this.#try(route, () => {
          for (const operation of this.#document.operationsOf(route, item)) {
            this.#try(`${operation.method} ${route}`, () => this.#planEndpoint(operation));
          }
        });
      }
    }
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      this.#planType(next);
    }
    const used = this.#usedTypes();
    return {
      name: this.#prefix,
      endpoints: this.#endpoints,
      types: [...this.#types.values()].filter(({ name }) => used.has(name)),
      enums: [...this.#enums.values()].filter(({ name }) => used.has(name)),
      skipped: this.#skipped,
    };
  }

  /** Returns the names of the types that endpoints use. Others belong to endpoints that were skipped later. */
  #usedTypes(): Set<string> {
    const types = new Map([...this.#types.values()].map((type) => [type.name, type]));
    const values = this.#endpoints.flatMap(({ response, query, body }) => [
      ...(response === undefined ? [] : [response]),
      ...[...query, ...body].map(({ value }) => value),
    ]);
    const used = new Set(values.map(({ type }) => type));
    for (const name of used) {
      for (const { value } of types.get(name)?.fields ?? []) {
        used.add(value.type); // Visited by this loop too.
      }
    }
    return used;
  }

  #try(part: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#skip(part, error);
    }
  }

  #skip(part: string, error: unknown): void {
    if (!(error instanceof Unsupported)) {
      throw error;
    }
    this.#skipped.push({ part, reason: error.message });
  }

  #planEndpoint(planned: Operation): void {
    const { method, route: path, operation } = planned;
    const form = formOf({ method, route: path });
    const reason = this.#forms.get(form);
    if (reason !== undefined) {
      throw new Unsupported(reason);
    }
    if (!['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method)) {
      throw new Unsupported('endpoints have the methods GET, POST, PUT, PATCH and DELETE');
    }
    const parameters = this.#document.parametersOf(planned);
    const endpoint = `${method} ${path}`;
    const isQuery = method === 'GET';
    const headers = parameters.filter(({ in: place }) => place === 'header');
    const isIdempotent = !isQuery && headers.some((header) => nameOf(header).toLowerCase() === 'idempotency-key');
    const inputs = new Names([...INHERITED, ...(isQuery ? [] : ['idempotencyKey', 'replayed'])]);
    const { route, params } = this.#planPath(path, parameters, inputs);
    const words = namesOf(method, path, operation);
    const query = this.#planParameters(endpoint, parameters, inputs, words);
    const success = this.#successOf(operation);
    const response = this.#planResponse(success, words, path, method);
    if (isQuery && response.value === undefined) {
      throw new Unsupported('its response has no body');
    }
    if (isQuery && operation.requestBody !== undefined) {
      this.#skipped.push({ part: `${endpoint}, body`, reason: 'a GET has none' });
    }
    const body = isQuery ? { fields: [], whole: undefined } : this.#planBody(endpoint, operation, inputs, words);
    if (!isQuery && params.length + query.length + body.fields.length === 0 && !body.whole && !isIdempotent) {
      throw new Unsupported('it has neither parameters nor a body, and the input of a mutation has at least one field');
    }

    const wanted = toCamel(words);
    const field = this.#fieldNames.take(
      [wanted, toCamel([...toWords(this.#prefix), ...words])],
      (name) => isQuery || ['Input', 'Success', 'Result'].every((end) => !this.#typeNames.has(toPascal([name]) + end)),
    );
    if (!isQuery) {
      for (const end of ['Input', 'Success', 'Result']) {
        this.#typeNames.take([toPascal([field]) + end]);
      }
    }
    this.#forms.set(form, 'the document has it twice');
    this.#endpoints.push({
      method,
      route,
      field,
      constant: this.#constants.take([isQuery ? toCamel(['get', toPascal([field])]) : field], isNotGlobal),
      bodyType: this.#constants.take([`${toPascal([field])}Request`]),
      description: describe(operation, `Calls \`${method} ${route}\`.`, 'summary'),
      isDeprecated: operation.deprecated === true,
      scope: scopeOf(path, this.#prefix, isQuery),
      params,
      query,
      body: body.fields,
      wholeBody: body.whole,
      expect: response.expect,
      response: response.value,
      resource: response.value?.kind === 'object' ? response.value.type : toPascal(nounOf(path)),
      isIdempotent,
      canConflict: Object.hasOwn(recordOf(operation.responses), '409'),
      todos: [
        ...(field === wanted ? [] : [`Find a better name: ${wanted} exists.`]),
        ...(response.todo === undefined ? [] : [response.todo]),
      ],
    });
  }

  /** Plans the parameters of a path, and renames those that no endpoint can have. */
  #planPath(path: string, parameters: readonly Part[], inputs: Names) {
    const names = new Names([...RESERVED_PARAMS, ...INHERITED]);
    const params: FieldPlan[] = [];
    const segments = path.split('/').slice(1);
    const route = segments.map((segment) => {
      const [, name] = /^\{([^{}]+)\}$/.exec(segment) ?? [];
      if (name === undefined) {
        if (!/^[\w~-][\w.~-]*$/.test(segment)) {
          throw new Unsupported('its path has a segment that is neither a plain text nor a parameter');
        }
        return segment;
      }
      const words = toWords(name);
      if (words.length === 0) {
        throw new Unsupported('the name of a parameter of its path has neither letters nor digits of ASCII');
      }
      const source = names.take(/^\w+$/.test(name) ? [name, toCamel([...words, 'param'])] : [toCamel(words)]);
      const parameter = parameters.find((each) => each.in === 'path' && each.name === name) ?? {};
      params.push({
        name: inputs.take([toCamel(words)]),
        source,
        value: scalar('ID'),
        isRequired: true,
        description: describe(parameter, `The service's \`${name}\`.`),
        isDeprecated: false,
        todos: [],
      });
      return `{${source}}`;
    });
    return { route: `/${route.join('/')}`, params };
  }

  /** Plans the parameters of the query. An endpoint that requires others can't be called. */
  #planParameters(endpoint: string, parameters: readonly Part[], inputs: Names, words: readonly string[]): FieldPlan[] {
    return parameters.flatMap((parameter) => {
      const { in: place, required, schema } = parameter;
      const name = nameOf(parameter);
      if (place === 'path' || (place === 'header' && OWN_HEADERS.includes(name.toLowerCase()))) {
        return [];
      }
      let problem = place === 'query' ? findNameProblem(name) : 'the gateway sends no headers or cookies of callers';
      if (problem === undefined) {
        const value = this.#valueOf(schema, [...words, ...toWords(name)], name, 'input');
        if (!value.isList && value.type !== 'JSON' && value.type !== 'JSONObject') {
          return [fieldOf({ name, part: parameter, value, isRequired: required === true, names: inputs })];
        }
        problem = 'a parameter of the query is a text, a number or a boolean';
      }
      if (required === true) {
        throw new Unsupported(`it requires the ${place} parameter ${name}, but ${problem}`);
      }
      this.#skipped.push({ part: `${endpoint}, ${place} parameter ${name}`, reason: problem });
      return [];
    });
  }

  #planBody(endpoint: string, { requestBody }: Part, inputs: Names, words: readonly string[]) {
    const fields: FieldPlan[] = [];
    if (requestBody === undefined) {
      return { fields, whole: undefined };
    }
    const { content } = this.#document.resolve(requestBody);
    const [type, media] = jsonOf(content);
    if (type === undefined) {
      throw new Unsupported(`its body is ${typesOf(content)}, not JSON`);
    }
    const { schema } = this.#document.schemaOf(media?.schema);
    const properties = Object.entries(recordOf(schema.properties));
    if (properties.length === 0 || hasAlternatives(schema)) {
      if (schema.type !== undefined && schema.type !== 'object') {
        throw new Unsupported('its body is no object');
      }
      const value = {
        ...scalar('JSONObject'),
        todo: 'Declare the fields of the body, which the document leaves open.',
      };
      return {
        fields,
        whole: fieldOf({ name: 'body', part: {}, value, isRequired: true, names: inputs }),
      };
    }
    for (const [name, part] of properties) {
      const isRequired = listOf(schema.required).includes(name);
      try {
        assertName(name);
        const resolved = this.#document.schemaOf(part).schema;
        if (resolved.readOnly !== true) {
          const value = this.#valueOf(part, [...words, ...toWords(name)], name, 'input');
          fields.push(fieldOf({ name, part: { ...resolved, ...recordOf(part) }, value, isRequired, names: inputs }));
        }
      } catch (error) {
        if (isRequired && error instanceof Unsupported) {
          throw new Unsupported(`its body requires ${name}, but ${error.message}`);
        }
        this.#skip(`${endpoint}, body.${name}`, error);
      }
    }
    return { fields, whole: undefined };
  }

  /** Returns the schema of a successful response; undefined if it has no body. */
  #successOf({ responses }: Part): unknown {
    const all = Object.entries(recordOf(responses)).filter(([status]) => /^2/.test(status));
    const [, response] = all.find(([status]) => status !== '204') ?? all[0] ?? [];
    if (response === undefined) {
      throw new Unsupported('the document describes no successful response');
    }
    const { content } = this.#document.resolve(response);
    if (Object.keys(recordOf(content)).length === 0) {
      return undefined;
    }
    const [type, media] = jsonOf(content);
    if (type === undefined) {
      throw new Unsupported(`its response is ${typesOf(content)}, not JSON`);
    }
    return media?.schema ?? {};
  }

  #planResponse(
    success: unknown,
    words: readonly string[],
    path: string,
    method: string,
  ): { expect: Expected; value?: Value; todo?: string } {
    if (success === undefined) {
      return { expect: 'nothing' };
    }
    const name = method === 'GET' ? words : [...words, 'response'];
    const { schema } = this.#document.schemaOf(success);
    const properties = recordOf(schema.properties);
    if (!Object.hasOwn(properties, 'data') || Object.hasOwn(properties, '_organizationId')) {
      return formOfValue(this.#valueOf(success, name, '', 'output'));
    }
    const others = Object.keys(properties).filter((other) => other !== 'data');
    const value = this.#valueOf(properties.data, name, '', 'output');
    if (others.length === 0 || !(value.isList && value.kind === 'object')) {
      const todo = 'The document has members beside data, which are not returned: the gateway removes the envelope.';
      return { ...formOfValue(value), ...(others.length > 0 && { todo }) };
    }
    const items = toCamel(listNounOf(path));
    return { expect: 'page', value: this.#valueOf(success, [...name, 'page'], '', 'output', { items }) };
  }

  /** Plans a value. Objects of an input are JSON. @throws {Unsupported} if its schema is in another document */
  #valueOf(
    part: unknown,
    words: readonly string[],
    property: string,
    use: 'input' | 'output',
    { items, depth = 0 }: { items?: string; depth?: number } = {},
  ): Value {
    const { schema, isNullable, name } = this.#document.schemaOf(part);
    const withNull = (value: Value): Value => ({ ...value, isNullable });
    const { type, format } = schema;
    if (hasAlternatives(schema)) {
      return withNull({ ...scalar('JSON'), todo: 'The document allows several forms.' });
    }
    const isTooDeep = depth > MAX_DEPTH && name === undefined;
    if (type === 'array' && isTooDeep) {
      return withNull({ ...scalar('JSON'), todo: TOO_DEEP });
    }
    if (type === 'array') {
      const inner = [...words.slice(0, -1), ...words.slice(-1).map(toSingular)];
      const item = this.#valueOf(schema.items, inner, property, use, { depth: depth + 1 });
      return item.isList || item.isNullable || item.type === 'JSON'
        ? withNull({ ...scalar('JSON'), todo: 'A list of lists, of values that can be null, or of several forms.' })
        : withNull({ ...item, isList: true });
    }
    const properties = Object.entries(recordOf(schema.properties));
    if (type === 'object' || (type === undefined && properties.length > 0)) {
      const hasFields = properties.some(([each]) => findNameProblem(each) === undefined);
      if (use === 'input' || !hasFields || isTooDeep) {
        const todo = !hasFields
          ? undefined
          : isTooDeep
            ? TOO_DEEP
            : 'An object, whose fields clients see only if you declare a type.';
        return withNull({ ...scalar('JSONObject'), todo });
      }
      const plan = this.#typeOf({ schema, name, words, depth: name === undefined ? depth : 0, items });
      return withNull({ type: plan.name, kind: 'object', code: `${plan.name}Body`, isList: false, isNullable });
    }
    if (type === 'string') {
      const values = this.#enumOf(schema, name, words);
      if (values !== undefined) {
        return withNull({ type: values.name, kind: 'enum', code: `${values.name}Value`, isList: false, isNullable });
      }
      const byFormat = format === 'date-time' ? 'DateTime' : format === 'date' ? 'LocalDate' : undefined;
      return withNull(
        scalar(byFormat ?? (/(?:^|_|[a-z])(?:id|Id|ids|Ids)$/.test(property) && isIdName(property) ? 'ID' : 'String')),
      );
    }
    if (type === 'integer') {
      const isLarge = format === 'int64' || Number(schema.maximum) > MAX_INT;
      return withNull(isLarge ? { ...scalar('Float'), todo: 'Int, if it is always below 2^31.' } : scalar('Int'));
    }
    if (type === 'number' || type === 'boolean') {
      return withNull(scalar(type === 'number' ? 'Float' : 'Boolean'));
    }
    return withNull({ ...scalar('JSON'), todo: 'The document states no type.' });
  }

  #typeOf({
    schema,
    name,
    words,
    depth,
    items,
  }: {
    schema: Part;
    name: string | undefined;
    words: readonly string[];
    depth: number;
    items: string | undefined;
  }): TypePlan {
    const stored = this.#types.get(schema);
    if (stored !== undefined) {
      return stored;
    }
    const wanted = toPascal(name === undefined ? words : toWords(name.replace(SUFFIXES, ''))) || toPascal(words);
    const taken = this.#takeType(wanted, 'Body');
    const plan: TypePlan = {
      name: taken,
      description: describe(
        schema,
        items === undefined ? `A record of the service: ${toWords(taken).join(' ')}.` : 'A page of a list.',
        'title',
      ),
      fields: [],
      todos: taken === wanted ? [] : [`Find a better name: ${wanted} exists.`],
    };
    this.#types.set(schema, plan);
    this.#pending.push({ plan, schema, depth, items });
    return plan;
  }

  /** Plans the fields of an object type. */
  #planType({ plan, schema, depth, items }: PendingType): void {
    const names = new Names(INHERITED);
    const required = listOf(schema.required);
    for (const [name, part] of Object.entries(recordOf(schema.properties))) {
      this.#try(`${plan.name}.${name}`, () => {
        assertName(name);
        const words = [...toWords(plan.name), ...toWords(name)];
        const resolved = this.#document.schemaOf(part).schema;
        if (resolved.writeOnly !== true) {
          const value = this.#valueOf(part, words, name, 'output', { depth: depth + 1 });
          const isItems = items !== undefined && name === 'data';
          const field = fieldOf({
            name,
            part: { ...(value.kind === 'object' ? {} : resolved), ...recordOf(part) },
            value,
            isRequired: isItems || required.includes(name),
            names,
            wanted: isItems ? items : toCamel(toWords(name)),
          });
          plan.fields.push(field);
        }
      });
    }
    if (required.length === 0) {
      plan.todos.push('The document does not state which fields are always sent: remove nullable from these.');
    }
    const links = plan.fields.map(({ name }) => name).filter((name) => /.Ids?$/.test(name));
    if (links.length > 0) {
      plan.todos.push(`Link the records that these fields name: ${links.join(', ')}.`);
    }
  }

  /** Plans the enum of a text with certain values; undefined if they can't be names. Equal lists of values are one enum. */
  #enumOf(schema: Part, name: string | undefined, words: readonly string[]): EnumPlan | undefined {
    const values = listOf(schema.enum).filter((value) => typeof value === 'string');
    const plans = values.map((value) => ({ name: toUpper(toWords(value)), value }));
    const isUsable = plans.every((plan) => plan.name !== '' && plan.value.length <= 64);
    if (
      plans.length === 0 ||
      plans.length > MAX_VALUES ||
      !isUsable ||
      new Set(plans.map((plan) => plan.name)).size < plans.length
    ) {
      return undefined;
    }
    const key = JSON.stringify(values);
    const stored = this.#enums.get(key);
    if (stored !== undefined) {
      return stored;
    }
    const wanted = toPascal(name === undefined ? words : toWords(name)) || toPascal(words);
    const taken = this.#takeType(wanted, 'Value');
    const plan = {
      name: taken,
      description: describe(schema, `A value of the service: ${toWords(taken).join(' ')}.`, 'title'),
      values: plans,
    };
    this.#enums.set(key, plan);
    return plan;
  }

  /** Returns a free name of a type, whose interface in TypeScript has a suffix. */
  #takeType(wanted: string, suffix: string): string {
    const prefixed = toPascal(toWords(this.#prefix)) + wanted;
    const isFree = (name: string) =>
      isNotGlobal(name) && !this.#constants.has(name) && !this.#constants.has(name + suffix);
    const name = this.#typeNames.take([wanted, prefixed], isFree);
    this.#constants.take([name]);
    this.#constants.take([name + suffix]);
    return name;
  }
}

const isNotGlobal = (name: string): boolean => !(name in globalThis);

const scalar = (type: string): Value => ({
  type,
  kind: 'scalar',
  code: CODES[type] ?? 'string',
  isList: false,
  isNullable: false,
});

/** Types of TypeScript by scalar, other than strings. */
const CODES: Readonly<Record<string, string>> = {
  Int: 'number',
  Float: 'number',
  Boolean: 'boolean',
  JSON: 'unknown',
  JSONObject: 'Record<string, unknown>',
};

/** @throws {Unsupported} if a property can't be written */
function assertName(name: string): void {
  const problem = findNameProblem(name);
  if (problem !== undefined) {
    throw new Unsupported(problem);
  }
}

/** Returns the field of a property or parameter. */
function fieldOf({
  name,
  part,
  value,
  isRequired,
  names,
  wanted = toCamel(toWords(name)),
}: {
  name: string;
  part: Part;
  value: Value;
  isRequired: boolean;
  names: Names;
  wanted?: string;
}): FieldPlan {
  const taken = names.take([wanted]);
  return {
    name: taken,
    source: name,
    value,
    isRequired,
    description: describe(part, `The service's \`${name}\`.`),
    isDeprecated: part.deprecated === true,
    todos: [
      ...(taken === wanted ? [] : [`Find a better name: ${wanted} exists.`]),
      ...(value.todo === undefined ? [] : [value.todo]),
    ],
  };
}

/** Returns how the response of an endpoint is checked. */
function formOfValue(value: Value): { expect: Expected; value: Value } {
  const isRecord = value.kind === 'object' && !value.isNullable;
  return { expect: isRecord ? (value.isList ? 'list' : 'record') : 'value', value };
}

/** Returns the description of a part, or of its other member. */
function describe(part: Part, fallback: string, other = 'description'): string {
  const text = [part.description, part[other]].find((each) => typeof each === 'string' && each.trim() !== '');
  return typeof text === 'string' ? text.trim().toWellFormed() : fallback;
}

const nameOf = ({ name }: Part): string => String(name ?? '');

const formOf = ({ method, route }: { method: string; route: string }): string =>
  `${method} ${route.replace(/\{[^{}]*\}/g, '{}')}`;

/** Whether a value can have one of several forms. */
const hasAlternatives = ({ oneOf, anyOf }: Part): boolean => listOf(oneOf).length + listOf(anyOf).length > 1;

const isIdName = (name: string): boolean => /^ids?$/.test(toWords(name).at(-1) ?? '');

/** Returns the JSON among the types of a body. */
function jsonOf(content: unknown): [type?: string, media?: Part] {
  const found = Object.entries(recordOf(content)).find(([type]) =>
    /^(?:application\/(?:[\w.-]+\+)?json|\*\/\*)\s*(?:;|$)/i.test(type),
  );
  return found === undefined ? [] : [found[0], recordOf(found[1])];
}

const typesOf = (content: unknown): string => Object.keys(recordOf(content)).join(', ') || 'of no type';

/** Returns the plain words of a path, without those of versions. */
const segmentsOf = (path: string): string[] =>
  path
    .split('/')
    .filter((segment) => segment !== '' && !segment.includes('{') && !/^(?:v\d+|api|rest)$/i.test(segment));

/** Returns the words of the record that a path names, such as `topic`, `subscriber`. */
function nounOf(path: string): string[] {
  const words = segmentsOf(path)
    .slice(-2)
    .flatMap((segment) => toWords(segment).map(toSingular));
  return words.length === 0 ? ['record'] : words;
}

/** Returns the same words with the last segment as it is, because the paths of lists end with a plural. */
function listNounOf(path: string): string[] {
  const last = toWords(segmentsOf(path).at(-1) ?? '');
  return last.length === 0 ? nounOf(path) : [...nounOf(path).slice(0, -last.length), ...last];
}

/** Returns the words of a field: those of the operation's id without its prefix and `get`, or of its path. */
function namesOf(method: string, path: string, { operationId }: Part): string[] {
  const id = typeof operationId === 'string' ? operationId.replace(/^.*Controller[_.]/, '') : '';
  const words = toWords(id);
  const [verb = ''] = words;
  const rest = method === 'GET' && /^(?:get|list|fetch|find|retrieve|read)$/.test(verb) ? words.slice(1) : words;
  if (words.length > 1 && rest.length > 0 && id.length <= 64) {
    return rest;
  }
  const noun = nounOf(path);
  if (method === 'GET') {
    return path.endsWith('}') ? noun : listNounOf(path);
  }
  return [{ POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' }[method] ?? '', ...noun];
}

/** Returns the scope of a path: its first noun. */
function scopeOf(path: string, moduleName: string, isRead: boolean): Scope {
  const [noun = ''] = segmentsOf(path);
  const end = isRead ? 'read' : 'write';
  const scope = [noun, moduleName]
    .map(
      (name) =>
        `${toWords(name)
          .map((word) => word.replace(/\d/g, ''))
          .filter(Boolean)
          .join('-')}:${end}`,
    )
    .find(isScope);
  return isScope(scope) ? scope : `module:${end}`;
}
