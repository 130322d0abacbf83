import type { GraphQLSchema } from 'graphql';
import { isScope } from '../../settings/scopes.ts';
import { type Expected, endpoint, kindOf } from '../../upstream/endpoint.ts';
import { CONTRACT } from '../../upstream/endpoints.ts';
import { listOf, type OpenApiDocument, type Operation, type Part, recordOf, Unsupported } from './document.ts';
import { INHERITED, Names, toCamel, toPascal, toSingular, toWords } from './names.ts';
import {
  assertName,
  describe,
  type EndpointPlan,
  type FieldPlan,
  fieldOf,
  hasAlternatives,
  isSecretField,
  json,
  type LoaderPlan,
  scalar,
  type TypePlan,
  Types,
  type Value,
} from './types.ts';

/** Module to write. */
export interface ModulePlan {
  name: string;
  endpoints: EndpointPlan[];
  types: TypePlan[];
  loaders: LoaderPlan[];
  skipped: Skip[];
}

/** Part of the document that is not written. */
export interface Skip {
  part: string;
  /** Clause. */
  reason: string;
}

/** Identifiers that the module uses for other purposes, and words of TypeScript. */
const RESERVED =
  'args assertRange await break builder case catch class const continue ctx debugger declareCalls default defineModule delete do else endpoint enum export extends false finally for function if implements import in input instanceof interface let loadBySentId loader mutation new null package parent private protected public requireScopes return send static super switch t this throw true try typeof undefined use var void while with yield _root _args _input'.split(
    ' ',
  );

/** Headers that the gateway sets itself, or that OpenAPI says to ignore. */
const OWN_HEADERS =
  /^(?:accept(?:-encoding)?|authorization|connection|content-(?:type|length)|cookie|host|idempotency-key|traceparent|transfer-encoding|user-agent|x-request-id)$/i;

/** Names of `CallArgs` and `WriteOptions`, which parameters of a path can't have. */
const RESERVED_PARAMS = ['query', 'body', 'headers', 'idempotencyKey', 'isBulkItem'];

/** Endpoints whose responses show which types of the document are built in, with the names that their modules export. */
const BUILT_IN_TYPES: Readonly<Record<string, { module: string; type: string; loader?: string }>> = {
  'GET /v1/workflows/{}': { module: 'workflows', type: 'Workflow', loader: 'workflow' },
  'GET /v1/notification-groups/{}': {
    module: 'notificationGroups',
    type: 'NotificationGroup',
    loader: 'notificationGroup',
  },
  'POST /v1/subscribers': { module: 'subscribers', type: 'Subscriber' },
  'POST /v1/feeds': { module: 'feeds', type: 'Feed' },
};

/** Texts that can have several lines, by their names or media types. */
const MULTILINE = /(?:html|content|body|description|text|message|markdown|notes?|comments?|css|template)$/i;

/** Plans the module of a document. What can't be written is skipped. */
export class Planner {
  readonly #document: OpenApiDocument;
  readonly #name: string;
  readonly #types: Types;
  readonly #typeNames: Names;
  readonly #fieldNames: Names;
  readonly #constants: Names;
  readonly #endpoints: EndpointPlan[] = [];
  readonly #loaders: LoaderPlan[] = [];
  readonly #skipped: Skip[] = [];
  readonly #forms = new Map(CONTRACT.map((endpoint) => [formOf(endpoint), 'a built-in field calls it']));
  /** Kinds of stored reads that writes below a collection change, by its noun. */
  readonly #empties = new Map<string, Set<string>>();

  /**
   * @param name name of the module
   * @param builtIn schema without modules, whose names are not used again
   */
  constructor(document: OpenApiDocument, name: string, builtIn: GraphQLSchema) {
    const roots = [builtIn.getQueryType(), builtIn.getMutationType()];
    this.#document = document;
    this.#name = name;
    this.#types = new Types(document, builtIn, (part, error) => this.#skip(part, error));
    this.#typeNames = new Names([...Object.keys(builtIn.getTypeMap()), 'Subscription']);
    this.#fieldNames = new Names(roots.flatMap((root) => Object.keys(root?.getFields() ?? {})));
    this.#constants = new Names([...RESERVED, ...Object.values(BUILT_IN_TYPES).flatMap((each) => Object.values(each))]);
    for (const { route, cached, empties } of CONTRACT) {
      const [noun = ''] = segmentsOf(route);
      const kinds = [...(empties ?? []), ...(cached === undefined ? [] : [kindOf(cached)])];
      this.#empties.set(noun, new Set([...(this.#empties.get(noun) ?? []), ...kinds]));
    }
  }

  /** Plans all operations whose path matches. */
  plan(matches: (route: string) => boolean): ModulePlan {
    for (const [route, item] of this.#document.paths) {
      this.#try(route, matches(route), () => {
        for (const operation of this.#document.operationsOf(route, item)) {
          const part = `${operation.method} ${route}`;
          this.#try(part, false, () => this.#findBuiltIn(operation));
          this.#try(part, matches(route), () => this.#planEndpoint(operation));
        }
      });
    }
    this.#types.complete();
    for (const { options, response } of this.#endpoints) {
      options.identifiedBy = toOption(identifiersOf(response, options.expect));
    }
    this.#planLoaders();
    const types = this.#usedTypes();
    this.#nameTypes(types);
    return { name: this.#name, endpoints: this.#endpoints, types, loaders: this.#loaders, skipped: this.#skipped };
  }

  #try(part: string, isWanted: boolean, run: () => void): void {
    try {
      run();
    } catch (error) {
      if (isWanted || !(error instanceof Unsupported)) {
        this.#skip(part, error);
      }
    }
  }

  #skip(part: string, error: unknown): void {
    if (!(error instanceof Unsupported)) {
      throw error;
    }
    this.#skipped.push({ part, reason: error.message });
  }

  /** Recognizes a built-in type by the response of a built-in endpoint. */
  #findBuiltIn(operation: Operation): void {
    const builtIn = BUILT_IN_TYPES[formOf(operation)];
    if (builtIn === undefined) {
      return;
    }
    const { module, type: name, loader } = builtIn;
    const { response } = this.#planResponse(this.#successOf(operation.operation).schema, [name], operation);
    const type = response?.type;
    if (type !== undefined && typeof type !== 'string') {
      Object.assign(type, { name, module });
      if (loader !== undefined) {
        const id = `${toWords(loader).join(' ')} id`;
        this.#loaders.push({ name: loader, type, noun: loader, key: '_id', id, get: undefined, many: undefined });
      }
    }
  }

  #planEndpoint(planned: Operation): void {
    const { method, route: path, operation } = planned;
    const form = formOf(planned);
    const known = this.#forms.get(form);
    if (known !== undefined) {
      throw new Unsupported(known);
    }
    const isQuery = method === 'GET';
    if (!/^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method)) {
      throw new Unsupported(`the gateway sends no ${method}`);
    }
    const parameters = this.#document.parametersOf(planned);
    const inputs = new Names(['idempotencyKey', ...INHERITED]);
    const words = namesOf(method, path, operation);
    const { route, params } = this.#planPath(path, parameters, inputs);
    const part = `${method} ${path}`;
    const { query, headers, lists, fixed } = this.#planParameters(part, parameters, inputs, words);
    const success = this.#successOf(operation);
    const { expect, response, todo } = this.#planResponse(success.schema, words, planned);
    if (isQuery && operation.requestBody !== undefined) {
      this.#skipped.push({ part: `${part}, body`, reason: 'a GET has none' });
    }
    const { body, wholeBody, format } = isQuery
      ? { body: [], wholeBody: undefined, format: undefined }
      : this.#planBody(part, operation, inputs, words);
    const wanted = toCamel(words);
    const ends = isQuery ? [] : ['Input', 'Success', 'Result'];
    const field = this.#fieldNames.take([wanted, toCamel([...toWords(this.#name), ...words])], (name) =>
      ends.every((end) => !this.#typeNames.has(toPascal([name]) + end)),
    );
    for (const end of ends) {
      this.#typeNames.take([toPascal([field]) + end]);
    }
    this.#forms.set(form, 'the document has it twice');
    const [collection = ''] = segmentsOf(path);
    const kinds = this.#empties.get(collection);
    const multiline = body.filter(
      ({ source, value: { type, isList } }) => type === 'String' && !isList && MULTILINE.test(source),
    );
    this.#endpoints.push({
      method,
      route,
      field,
      constant: this.#constants.take([isQuery ? toCamel(['get', toPascal([field])]) : field], isNotGlobal),
      description: describe(operation, `Calls \`${method} ${route}\`.`, 'summary'),
      isDeprecated: operation.deprecated === true,
      noun: [collection, this.#name].map(toScopeNoun).find((noun) => isScope(`${noun}:read`)) ?? 'module',
      params,
      query,
      headers,
      body,
      wholeBody,
      options: {
        expect: expect === 'record' ? undefined : expect,
        idempotent:
          (!isQuery && parameters.some((each) => /^idempotency-key$/i.test(nameOf(each)) && each.in === 'header')) ||
          undefined,
        headers: toOption({ ...fixed, ...Object.fromEntries(headers.map(({ source }) => [source, true])) }),
        lists,
        bodyFormat: format,
        empties: isQuery || kinds === undefined ? undefined : [...kinds],
        multiline: toOption(multiline.map(({ source }) => source)),
      },
      response,
      loader: undefined,
      resource: toPascal(nounOf(path)),
      canConflict: Object.hasOwn(recordOf(operation.responses), '409'),
      todos: [
        ...(field === wanted ? [] : [`Find a better name: ${wanted} exists.`]),
        ...[success.todo, todo].filter((each) => each !== undefined),
      ],
    });
  }

  /** Plans the parameters of a path, and renames those that no endpoint can have. */
  #planPath(path: string, parameters: readonly Part[], inputs: Names) {
    const names = new Names([...RESERVED_PARAMS, ...INHERITED]);
    const params: FieldPlan[] = [];
    const route = path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
      const words = toWords(name);
      if (words.length === 0) {
        throw new Unsupported('the name of a parameter of its path has neither letters nor digits of ASCII');
      }
      const source = names.take(/^\w+$/.test(name) ? [name, toCamel([...words, 'param'])] : [toCamel(words)]);
      const part = parameters.find((each) => each.in === 'path' && each.name === name) ?? {};
      const wanted = toCamel(words);
      params.push({ ...fieldOf({ name, part, value: scalar('ID'), isRequired: true, names: inputs, wanted }), source });
      return `{${source}}`;
    });
    try {
      endpoint(`GET /${route.slice(1)}`);
    } catch {
      throw new Unsupported('its path has a segment that no endpoint can have');
    }
    return { route, params };
  }

  /** Plans the parameters of the query and the headers. An endpoint that requires others can't be called. */
  #planParameters(operation: string, parameters: readonly Part[], inputs: Names, words: readonly string[]) {
    const query: FieldPlan[] = [];
    const headers: FieldPlan[] = [];
    const fixed: Record<string, string> = {};
    let lists: 'comma' | undefined;
    for (const parameter of parameters) {
      const { in: place, required } = parameter;
      const name = nameOf(parameter);
      const isRequired = required === true;
      try {
        if (place === 'header' && !OWN_HEADERS.test(name)) {
          const { schema } = this.#document.schemaOf(parameter.schema);
          const [only, ...others] = listOf(schema.enum);
          if (isRequired && typeof only === 'string' && others.length === 0) {
            fixed[name] = only;
          } else {
            assertName(name);
            headers.push(fieldOf({ name, part: parameter, value: scalar('String'), isRequired, names: inputs }));
          }
        } else if (place === 'cookie') {
          throw new Unsupported('the gateway sends no cookies');
        } else if (place === 'query') {
          for (const [source, part, isNeeded] of this.#partsOf(parameter)) {
            assertName(source);
            const value = this.#queryValueOf(part, [...words, ...toWords(source)], source);
            query.push(
              fieldOf({
                name: source,
                part: { ...this.#document.schemaOf(part).schema, ...recordOf(part), ...parameter },
                value,
                isRequired: isRequired && isNeeded,
                names: inputs,
              }),
            );
            lists = value.isList && parameter.explode === false ? 'comma' : lists;
          }
        }
      } catch (error) {
        if (isRequired && error instanceof Unsupported) {
          throw new Unsupported(`it requires the ${place} parameter ${name}, but ${error.message}`);
        }
        this.#skip(`${operation}, ${place} parameter ${name}`, error);
      }
    }
    return { query, headers, lists, fixed };
  }

  /** Returns the names and schemas of the query parameters that one of the document stands for: those of an object are several. */
  #partsOf(parameter: Part): [name: string, part: unknown, isRequired: boolean][] {
    const { schema, style, content } = parameter;
    const name = nameOf(parameter);
    const resolved = content === undefined ? this.#document.schemaOf(schema).schema : {};
    const properties = Object.entries(recordOf(resolved.properties));
    return properties.length === 0
      ? [[name, content === undefined ? schema : undefined, true]]
      : properties.map(([member, part]) => [
          style === 'deepObject' ? `${name}[${member}]` : member,
          part,
          listOf(resolved.required).includes(member),
        ]);
  }

  /** Plans a value in a query. Those that are no text, number or boolean, or a list of them, are sent as texts of the caller. */
  #queryValueOf(part: unknown, words: readonly string[], property: string): Value {
    const value = this.#types.valueOf(part, { words, property, use: 'input' });
    const isPlain = typeof value.type === 'string' ? !value.type.startsWith('JSON') : value.type.kind === 'enum';
    return isPlain
      ? value
      : { ...scalar('String'), todo: 'The text is sent as it is, because the document allows several forms.' };
  }

  #planBody(operation: string, { requestBody }: Part, inputs: Names, words: readonly string[]) {
    const body: FieldPlan[] = [];
    if (requestBody === undefined) {
      return { body, wholeBody: undefined, format: undefined };
    }
    const { content } = this.#document.resolve(requestBody);
    const found = mediaOf(content, JSON_TYPE) ?? mediaOf(content, /^application\/x-www-form-urlencoded/i);
    if (found === undefined) {
      throw new Unsupported(`its body is ${typesOf(content)}, neither JSON nor a form`);
    }
    const format = found.type.includes('form') ? 'form' : undefined;
    const { schema } = this.#document.schemaOf(found.media.schema);
    const properties = Object.entries(recordOf(schema.properties));
    if (properties.length === 0 || hasAlternatives(schema)) {
      const todo = 'Declare the fields of the body, which the document leaves open.';
      const value =
        schema.type === 'array'
          ? this.#types.valueOf(found.media.schema, { words: [...words, 'item'], use: 'input' })
          : { ...scalar('JSONObject'), todo };
      if ((schema.type !== undefined && schema.type !== 'object' && !value.isList) || value.type === 'JSON') {
        throw new Unsupported('its body is neither an object nor a list');
      }
      return {
        body,
        wholeBody: fieldOf({
          name: 'body',
          part: {},
          value: { ...value, isNullable: false },
          isRequired: true,
          names: inputs,
        }),
        format,
      };
    }
    for (const [name, part] of properties) {
      const isRequired = listOf(schema.required).includes(name);
      try {
        const resolved = this.#document.schemaOf(part).schema;
        if (resolved.readOnly !== true) {
          assertName(name);
          const value = this.#types.valueOf(part, {
            words: [...words, ...toWords(name)],
            property: name,
            use: 'input',
          });
          body.push(fieldOf({ name, part: { ...resolved, ...recordOf(part) }, value, isRequired, names: inputs }));
        }
      } catch (error) {
        if (isRequired && error instanceof Unsupported) {
          throw new Unsupported(`its body requires ${name}, but ${error.message}`);
        }
        this.#skip(`${operation}, body.${name}`, error);
      }
    }
    return { body, wholeBody: undefined, format };
  }

  /** Returns the schema of a successful response: undefined if it has no body, null if it is a text. */
  #successOf({ responses }: Part): { schema: unknown; todo?: string } {
    const all = Object.entries(recordOf(responses));
    const successes = all.filter(([status]) => /^2/.test(status));
    const [status, response] =
      successes.find(([each]) => each !== '204') ?? successes[0] ?? all.find(([each]) => each === 'default') ?? [];
    if (status === '204') {
      return { schema: undefined };
    }
    const { content } = response === undefined ? {} : this.#document.resolve(response);
    if (Object.keys(recordOf(content)).length === 0) {
      return { schema: {}, todo: 'The document describes no response.' };
    }
    const found = mediaOf(content, JSON_TYPE);
    if (found === undefined && mediaOf(content, /\b(?:text|xml|yaml|x-ndjson)\b/i) === undefined) {
      throw new Unsupported(`its response is ${typesOf(content)}, neither JSON nor a text`);
    }
    return { schema: found === undefined ? null : (found.media.schema ?? {}) };
  }

  #planResponse(
    success: unknown,
    words: readonly string[],
    { method, route }: Operation,
  ): { expect: Expected; response?: Value; todo?: string } {
    if (success === null) {
      return { expect: 'text', response: scalar('String') };
    }
    if (success === undefined) {
      return method === 'GET'
        ? { expect: 'value', response: json('The document says that the response has no body.') }
        : { expect: 'nothing' };
    }
    const place = { words: method === 'GET' ? words : [...words, 'response'], use: 'output' } as const;
    const { schema } = this.#document.schemaOf(success);
    const properties = recordOf(schema.properties);
    if (!Object.hasOwn(properties, 'data') || Object.hasOwn(properties, '_organizationId')) {
      return formOfValue(this.#types.valueOf(success, place));
    }
    const others = Object.keys(properties).filter((other) => other !== 'data');
    const value = this.#types.valueOf(properties.data, place);
    if (others.length === 0 || !(value.isList && typeof value.type !== 'string' && value.type.kind === 'object')) {
      const todo = 'The document has members beside data, which are not returned: the gateway removes the envelope.';
      return { ...formOfValue(value), ...(others.length > 0 && { todo }) };
    }
    const items = toCamel(listNounOf(route));
    const page = this.#types.valueOf(success, { ...place, words: [...place.words, 'page'], items });
    return { expect: 'page', response: { ...page, isNullable: false } };
  }

  /** Plans a loader for each endpoint that reads a record by its id only, and fields for the ids of such records. */
  #planLoaders(): void {
    for (const get of this.#endpoints) {
      const [param, ...others] = inputsOf(get);
      const type = get.response?.type;
      const isRead = get.method === 'GET' && get.options.expect === undefined && others.length === 0;
      if (!isRead || param === undefined || get.params.length === 0 || type === undefined || typeof type === 'string') {
        continue;
      }
      const words = toWords(param.source);
      const noun = toCamel(words.length > 1 && isIdWord(words.at(-1)) ? words.slice(0, -1) : nounOf(get.route));
      const list = this.#endpoints.find(
        (each) =>
          each.method === 'GET' &&
          each.options.expect === 'list' &&
          inputsOf(each).length === 0 &&
          each.response?.type === type &&
          get.route === `${each.route}/{${param.source}}`,
      );
      const names = words.map((_, i) => words.slice(i).join(' '));
      const key = names.flatMap((each) => type.fields.filter(({ source }) => toWords(source).join(' ') === each))[0]
        ?.source;
      const name = this.#constants.take([noun, get.field, `${noun}Loader`], isNotGlobal);
      const many = list !== undefined && key !== undefined ? list : undefined;
      const loader = { name, type, noun, key, id: [...toWords(noun), words.at(-1)].join(' '), get, many };
      get.loader = loader;
      if (many !== undefined) {
        many.loader = loader;
      }
      this.#loaders.push(loader);
    }
  }

  /** Returns the types that endpoints use, and decides their scopes. Others belong to endpoints that were skipped later. */
  #usedTypes(): TypePlan[] {
    const used = new Set<TypePlan>();
    const add = ({ type }: Value, noun: string, isRecord = false): void => {
      if (typeof type !== 'string') {
        type.noun ||= noun;
        type.isRecord ||= isRecord;
        used.add(type);
      }
    };
    for (const { method, response, noun, ...endpoint } of this.#endpoints.toSorted(
      (a, b) => Number(b.method === 'GET') - Number(a.method === 'GET'),
    )) {
      if (response !== undefined) {
        add(response, noun, method === 'GET');
      }
      for (const { value } of inputsOf(endpoint)) {
        add(value, noun);
      }
    }
    for (const type of used) {
      const isPage =
        type.isRecord &&
        this.#endpoints.some(({ options, response }) => options.expect === 'page' && response?.type === type);
      for (const field of type.module === undefined ? type.fields : []) {
        field.link = type.kind === 'object' ? this.#linkOf(type, field) : undefined;
        field.isSecret = isSecretField(field) && !this.#isId(type, field);
        add(field.value, type.noun, isPage && field.source === 'data'); // Visited by this loop too.
        if (field.link !== undefined) {
          add(scalar(field.link.type), type.noun);
        }
      }
    }
    return [...used];
  }

  /** Returns the loader of the records that a field names. An id such as `_subscriberId` is not that of a loader with another key. */
  #linkOf(type: TypePlan, { source, value }: FieldPlan): LoaderPlan | undefined {
    const id = toWords(source).join(' ');
    return this.#loaders.find(
      (loader) =>
        loader.id === id &&
        loader.type !== type &&
        typeof value.type === 'string' &&
        !value.isList &&
        !(source.startsWith('_') && loader.key !== '_id' && loader.type.fields.some((each) => each.source === '_id')) &&
        !type.fields.some(({ name, link }) => name === loader.noun || link?.noun === loader.noun),
    );
  }

  /** Whether a field has the value of a parameter of a path, such as the `key` of a topic for `topicKey`. */
  #isId({ name, wanted }: TypePlan, { source }: FieldPlan): boolean {
    const field = toWords(source).join(' ');
    const noun = toWords(wanted[0] ?? name);
    return this.#endpoints.some(({ params }) =>
      params.some((param) => {
        const [first = '', ...rest] = toWords(param.source);
        return [first, ...rest].join(' ') === field || (rest.join(' ') === field && noun.includes(first));
      }),
    );
  }

  /** Names types, and the interfaces of their bodies. */
  #nameTypes(types: readonly TypePlan[]): void {
    for (const type of types) {
      if (type.module === undefined) {
        const [first = 'Record'] = type.wanted;
        const prefix = toPascal(toWords(this.#name));
        const isFree = (name: string) =>
          isNotGlobal(name) && ![name, `${name}Body`].some((each) => this.#constants.has(each));
        type.name = this.#typeNames.take([...type.wanted, prefix + first], isFree);
        if (!type.wanted.includes(type.name)) {
          type.todos.push(`Find a better name: ${first} exists.`);
        }
        this.#constants.take([`${type.name}Body`]);
      }
      this.#constants.take([type.name]);
    }
  }
}

const isNotGlobal = (name: string): boolean => !(name in globalThis);

/** Whether a name ends as those of ids do. */
const isIdWord = (word: string | undefined): boolean => /^(?:id|key|identifier)$/.test(word ?? '');

/** Returns all fields of the input or arguments. */
export const inputsOf = ({
  params,
  query,
  headers,
  body,
  wholeBody,
}: Pick<EndpointPlan, 'params' | 'query' | 'headers' | 'body' | 'wholeBody'>): FieldPlan[] => [
  ...params,
  ...query,
  ...headers,
  ...body,
  ...(wholeBody === undefined ? [] : [wholeBody]),
];

/** Returns an option; undefined if it is empty. */
const toOption = <T extends object>(option: T): T | undefined => (Object.keys(option).length > 0 ? option : undefined);

/** Returns the ids that each record of a response must have. */
function identifiersOf(response: Value | undefined, expect: unknown): string[] {
  const type = response?.type;
  const records =
    expect === 'page' && typeof type === 'object'
      ? type.fields.find(({ source }) => source === 'data')?.value.type
      : type;
  return typeof records === 'object' && expect !== 'value'
    ? records.fields.filter(({ source, isRequired }) => isRequired && /^_?id$/.test(source)).map(({ source }) => source)
    : [];
}

/** Returns how the response of an endpoint is checked. */
function formOfValue(value: Value): { expect: Expected; response: Value } {
  const isRecord = typeof value.type !== 'string' && value.type.kind === 'object' && !value.isNullable;
  return { expect: isRecord ? (value.isList ? 'list' : 'record') : 'value', response: value };
}

const nameOf = ({ name }: Part): string => String(name ?? '');

const formOf = ({ method, route }: { method: string; route: string }): string =>
  `${method} ${route.replace(/\{[^{}]*\}/g, '{}')}`;

const JSON_TYPE = /^(?:application\/(?:[\w.-]+\+)?json|\*\/\*)\s*(?:;|$)/i;

/** Returns the first of the media types of a body that matches. */
function mediaOf(content: unknown, type: RegExp): { type: string; media: Part } | undefined {
  const found = Object.entries(recordOf(content)).find(([each]) => type.test(each));
  return found === undefined ? undefined : { type: found[0], media: recordOf(found[1]) };
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
  if (method === 'GET') {
    return path.endsWith('}') ? nounOf(path) : listNounOf(path);
  }
  return [{ POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' }[method] ?? '', ...nounOf(path)];
}

/** Returns the first words of a scope. */
const toScopeNoun = (name: string): string =>
  toWords(name)
    .map((word) => word.replace(/\d/g, ''))
    .filter(Boolean)
    .join('-');
