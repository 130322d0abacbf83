import type { GraphQLSchema } from 'graphql';
import { isScope } from '../../settings/scopes.ts';
import { HEADER_NAME, HEADER_VALUE } from '../../settings/setting.ts';
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
  isText,
  json,
  type LoaderPlan,
  type Place,
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
  /** Parts of the document that are not written, with a clause each. */
  skipped: { part: string; reason: string }[];
}

/** Identifiers that the module uses for other purposes, and words of TypeScript. */
const RESERVED =
  'args assertRange await break builder case catch class const continue ctx debugger declareCalls default defineModule delete do else endpoint enum export extends false finally for function if implements import in input instanceof interface let loadBySentId loader mutation new null package parent private protected public requireScopes return send static super switch t this throw true try typeof undefined use var void while with yield _root _args _input'.split(
    ' ',
  );

/** Headers that the gateway sets itself, or that OpenAPI says to ignore. */
const OWN_HEADERS = /^(?:accept|authorization|content-type|x-request-id)$/i;

const SENT = /^(?:GET|POST|PUT|PATCH|DELETE)$/;

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

/** Adds an argument to an endpoint. */
type Add = (place: Place, name: string, part: Part, value: Value, isRequired: boolean) => void;

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
  readonly #skipped: ModulePlan['skipped'] = [];
  readonly #forms = new Map(CONTRACT.map((endpoint) => [formOf(endpoint), 'a built-in field calls it']));

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
  }

  /** Plans all operations whose path matches. */
  plan(matches: (route: string) => boolean): ModulePlan {
    for (const [route, item] of this.#document.paths) {
      this.#try(route, false, () => {
        for (const operation of this.#document.operationsOf(route, item)) {
          const part = `${operation.method} ${route}`;
          this.#try(part, false, () => this.#findBuiltIn(operation));
          this.#try(part, false, () => matches(route) && this.#planEndpoint(operation));
        }
      });
    }
    this.#types.complete();
    for (const { options, response } of this.#endpoints) {
      options.identifiedBy = response && toOption(identifiersOf(response, options.expect));
    }
    this.#planLoaders();
    const types = this.#usedTypes();
    this.#nameTypes(types);
    return { name: this.#name, endpoints: this.#endpoints, types, loaders: this.#loaders, skipped: this.#skipped };
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
    const type = builtIn && this.#planResponse([builtIn.type], operation).response?.type;
    if (builtIn === undefined || type === undefined || isText(type)) {
      return;
    }
    const { module, type: name, loader } = builtIn;
    Object.assign(type, { name, module });
    if (loader !== undefined) {
      const id = `${toWords(loader).join(' ')} id`;
      this.#loaders.push({ name: loader, type, noun: loader, key: '_id', id, get: undefined, many: undefined });
    }
  }

  #planEndpoint(planned: Operation): void {
    const { method, route: path, operation } = planned;
    const form = formOf(planned);
    const known = this.#forms.get(form) ?? (SENT.test(method) ? undefined : `the gateway sends no ${method}`);
    if (known !== undefined) {
      throw new Unsupported(known);
    }
    const isQuery = method === 'GET';
    const words = namesOf(method, path, operation);
    const wanted = toCamel(words);
    const [collection = ''] = segmentsOf(path);
    const { expect, response, todo } = this.#planResponse(words, planned);
    const plan: EndpointPlan = {
      method,
      route: '',
      field: '',
      constant: '',
      description: describe(operation, `Calls \`${method} ${path}\`.`, 'summary'),
      isDeprecated: operation.deprecated === true,
      noun: [collection, this.#name].map(toScopeNoun).find((noun) => isScope(`${noun}:read`)) ?? 'module',
      inputs: [],
      options: {
        expect: expect === 'record' ? undefined : expect,
        empties: isQuery ? undefined : emptiesOf(collection),
      },
      response,
      loader: undefined,
      resource: toPascal(nounOf(path)),
      canConflict: Object.hasOwn(recordOf(operation.responses), '409'),
      todos: [],
    };
    const names = new Names(['idempotencyKey', ...INHERITED]);
    const add: Add = (place, ...source) => plan.inputs.push({ ...fieldOf(names, ...source), place });
    const parameters = this.#document.parametersOf(planned);
    plan.route = this.#planPath(path, parameters, plan, add);
    this.#planParameters(parameters, plan, words, add);
    if (!isQuery) {
      this.#planBody(operation, plan, words, add);
    } else if (operation.requestBody !== undefined) {
      this.#skipped.push({ part: `${method} ${path}, body`, reason: 'a GET has none' });
    }
    const ends = isQuery ? [] : ['Input', 'Success', 'Result'];
    plan.field = this.#fieldNames.take([wanted, toCamel([...toWords(this.#name), ...words])], (name) =>
      ends.every((end) => !this.#typeNames.has(toPascal([name]) + end)),
    );
    for (const end of ends) {
      this.#typeNames.take([toPascal([plan.field]) + end]);
    }
    plan.constant = this.#constants.take([isQuery ? `get${toPascal([plan.field])}` : plan.field], isNotGlobal);
    plan.todos = [plan.field === wanted ? undefined : `Find a better name: ${wanted} exists.`, todo].filter(isText);
    this.#forms.set(form, 'the document has it twice');
    this.#endpoints.push(plan);
  }

  /** Plans the parameters of a path, and renames those that no endpoint can have. */
  #planPath(path: string, parameters: readonly Part[], plan: EndpointPlan, add: Add): string {
    const names = new Names([...RESERVED_PARAMS, ...INHERITED]);
    const route = path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
      const words = toWords(name);
      if (words.length === 0) {
        throw new Unsupported('the name of a parameter of its path has neither letters nor digits of ASCII');
      }
      const source = names.take(/^\w+$/.test(name) ? [name, toCamel([...words, 'param'])] : [toCamel(words)]);
      const part = parameters.find((each) => each.in === 'path' && each.name === name) ?? {};
      add('path', name, part, scalar('ID'), true);
      Object.assign(plan.inputs.at(-1) ?? {}, { source });
      return `{${source}}`;
    });
    try {
      endpoint(`GET /${route.slice(1)}`);
      return route;
    } catch {
      throw new Unsupported('its path has a segment that no endpoint can have');
    }
  }

  /** Plans the parameters of the query and the headers. An endpoint that requires others can't be called. */
  #planParameters(parameters: readonly Part[], plan: EndpointPlan, words: readonly string[], add: Add): void {
    const headers: Record<string, string | true> = {};
    for (const parameter of parameters) {
      const { in: place, required = false, schema, explode, content } = parameter;
      const name = nameOf(parameter);
      this.#try(`${plan.method} ${plan.route}, ${place} parameter ${name}`, required === true, () => {
        if (place === 'cookie') {
          throw new Unsupported('the gateway sends no cookies');
        }
        if (place === 'header' && /^idempotency-key$/i.test(name)) {
          plan.options.idempotent = plan.method === 'GET' ? undefined : true;
        } else if (place === 'header' && !OWN_HEADERS.test(name)) {
          if (!HEADER_NAME.test(name)) {
            throw new Unsupported('no endpoint can declare this header');
          }
          assertName(name);
          const [only, ...others] = listOf(this.#document.schemaOf(schema).schema.enum);
          headers[name] =
            required === true && others.length === 0 && isText(only) && HEADER_VALUE.test(only) ? only : true;
          if (headers[name] === true) {
            add('headers', name, parameter, scalar('String'), required === true);
          }
        } else if (place === 'query') {
          for (const [source, part, isNeeded] of this.#partsOf(parameter)) {
            assertName(source);
            const place = { words: [...words, ...toWords(source)], property: source, use: 'input' } as const;
            const value = this.#types.valueOf(content === undefined ? part : {}, place);
            const isPlain = isText(value.type) ? !value.type.startsWith('JSON') : value.type.kind === 'enum';
            const described = { ...this.#document.schemaOf(part).schema, ...recordOf(part), ...parameter };
            const text = { ...scalar('String'), todo: 'The text is sent as it is: the document allows other forms.' };
            add('query', source, described, isPlain ? value : text, required === true && isNeeded);
            plan.options.lists = value.isList && explode === false ? 'comma' : plan.options.lists;
          }
        }
      });
    }
    plan.options.headers = toOption(headers);
  }

  /** Plans a part, or skips it. @throws {Unsupported} if it is required, and can't be sent */
  #try(part: string, isRequired: boolean, run: () => unknown): void {
    try {
      run();
    } catch (error) {
      if (isRequired && error instanceof Unsupported) {
        throw new Unsupported(`it requires ${part.replace(/.*, /s, '')}, but ${error.message}`);
      }
      this.#skip(part, error);
    }
  }

  /** Returns the names and schemas of the query parameters that one of the document stands for: those of an object are several. */
  #partsOf(parameter: Part): [name: string, part: unknown, isRequired: boolean][] {
    const { schema, style } = parameter;
    const name = nameOf(parameter);
    const { properties, required } = this.#document.schemaOf(schema).schema;
    const toName = (member: string) => (style === 'deepObject' ? `${name}[${member}]` : member);
    const members = Object.entries(recordOf(properties));
    return members.length === 0
      ? [[name, schema, true]]
      : members.map(([member, part]) => [toName(member), part, listOf(required).includes(member)]);
  }

  #planBody({ requestBody }: Part, plan: EndpointPlan, words: readonly string[], add: Add): void {
    if (requestBody === undefined) {
      return;
    }
    const { content } = this.#document.resolve(requestBody);
    const found = mediaOf(content, JSON_TYPE) ?? mediaOf(content, /^application\/x-www-form-urlencoded/i);
    if (found === undefined) {
      throw new Unsupported(`its body is ${typesOf(content)}, neither JSON nor a form`);
    }
    plan.options.bodyFormat = found.type.includes('form') ? 'form' : undefined;
    const { schema } = this.#document.schemaOf(found.media.schema);
    const properties = Object.entries(recordOf(schema.properties));
    if (properties.length === 0 || hasAlternatives(schema)) {
      const value =
        schema.type === 'array'
          ? this.#types.valueOf(found.media.schema, { words: [...words, 'item'], use: 'input' })
          : { ...scalar('JSONObject'), todo: 'Declare the fields of the body, which the document leaves open.' };
      if (!value.isList && schema.type !== undefined && schema.type !== 'object') {
        throw new Unsupported('its body is neither an object nor a list');
      }
      add('body', 'body', {}, { ...value, isNullable: false }, true);
      plan.hasWholeBody = true;
      return;
    }
    for (const [name, part] of properties) {
      const isRequired = listOf(schema.required).includes(name);
      this.#try(`${plan.method} ${plan.route}, body.${name}`, isRequired, () => {
        const resolved: Part = { ...this.#document.schemaOf(part).schema, ...recordOf(part) };
        if (resolved.readOnly !== true) {
          assertName(name);
          const place = { words: [...words, ...toWords(name)], property: name, use: 'input' } as const;
          add('body', name, resolved, this.#types.valueOf(part, place), isRequired);
        }
      });
    }
    const texts = plan.inputs.filter(
      ({ place, value }) => place === 'body' && value.type === 'String' && !value.isList,
    );
    plan.options.multiline = toOption(texts.map(({ source }) => source).filter((source) => MULTILINE.test(source)));
  }

  #planResponse(
    words: readonly string[],
    { method, route, operation }: Operation,
  ): { expect: Expected; response?: Value; todo?: string } {
    const all = Object.entries(recordOf(operation.responses)).filter(([status]) => /^2|^default$/.test(status));
    const [status, sent] = all.find(([each]) => /^2(?!04)/.test(each)) ?? all[0] ?? [];
    if (status === '204') {
      const response = json('The document says that the response has no body.');
      return method === 'GET' ? { expect: 'value', response } : { expect: 'nothing' };
    }
    const { content } = sent === undefined ? {} : this.#document.resolve(sent);
    if (Object.keys(recordOf(content)).length === 0) {
      return { expect: 'value', response: json('The document describes no response.') };
    }
    const found = mediaOf(content, JSON_TYPE);
    if (found === undefined) {
      if (mediaOf(content, /\b(?:text|xml|yaml|x-ndjson)\b/i) === undefined) {
        throw new Unsupported(`its response is ${typesOf(content)}, neither JSON nor a text`);
      }
      return { expect: 'text', response: scalar('String') };
    }
    const place = { words: method === 'GET' ? words : [...words, 'response'], use: 'output' } as const;
    const properties = recordOf(this.#document.schemaOf(found.media.schema).schema.properties);
    if (!Object.hasOwn(properties, 'data') || Object.hasOwn(properties, '_organizationId')) {
      return formOfValue(this.#types.valueOf(found.media.schema, place));
    }
    const value = this.#types.valueOf(properties.data, place);
    if (Object.keys(properties).length === 1) {
      return formOfValue(value);
    }
    if (!value.isList || isText(value.type) || value.type.kind !== 'object') {
      const todo = 'The document has members beside data, which are not returned: the gateway removes the envelope.';
      return { ...formOfValue(value), todo };
    }
    const items = toCamel(toWords(segmentsOf(route).at(-1) ?? 'items'));
    const page = this.#types.valueOf(found.media.schema, { ...place, words: [...place.words, 'page'], items });
    return { expect: 'page', response: { ...page, isNullable: false } };
  }

  /** Plans a loader for each endpoint that reads a record by its id only. */
  #planLoaders(): void {
    for (const get of this.#endpoints) {
      const [param, ...others] = get.inputs;
      const type = get.response?.type;
      const isRead = get.method === 'GET' && get.options.expect === undefined && others.length === 0;
      if (!isRead || param?.place !== 'path' || type === undefined || isText(type)) {
        continue;
      }
      const words = toWords(param.source);
      const isLong = words.length > 1 && isIdWord(words.at(-1));
      const noun = toCamel(isLong ? words.slice(0, -1) : toWords(type.wanted[0] ?? ''));
      const ends = words.map((_, i) => words.slice(i).join(' '));
      const key = ends.flatMap((end) => type.fields.filter(({ source }) => toWords(source).join(' ') === end))[0]
        ?.source;
      const isList = (each: EndpointPlan) =>
        each.options.expect === 'list' &&
        each.method === 'GET' &&
        each.inputs.length === 0 &&
        each.response?.type === type;
      const list = this.#endpoints.find((each) => isList(each) && get.route === `${each.route}/{${param.source}}`);
      const name = this.#constants.take([noun, get.field, `${noun}Loader`], isNotGlobal);
      const many = key === undefined ? undefined : list;
      get.loader = { name, type, noun, key, id: [...toWords(noun), words.at(-1)].join(' '), get, many };
      if (many !== undefined) {
        many.loader = get.loader;
      }
      this.#loaders.push(get.loader);
    }
  }

  /** Returns the types that endpoints use, and decides their scopes. Others belong to endpoints that were skipped later. */
  #usedTypes(): TypePlan[] {
    const used = new Set<TypePlan>();
    const pages = new Set<unknown>();
    const add = ({ type }: Value, noun: string, isRecord = false): void => {
      if (!isText(type)) {
        type.noun ||= noun;
        type.isRecord ||= isRecord;
        used.add(type);
      }
    };
    const isRead = ({ method }: EndpointPlan) => method === 'GET';
    for (const each of [...this.#endpoints.filter(isRead), ...this.#endpoints.filter((each) => !isRead(each))]) {
      if (each.response !== undefined) {
        add(each.response, each.noun, isRead(each));
        pages.add(each.options.expect === 'page' && each.response.type);
      }
      for (const { value } of each.inputs) {
        add(value, each.noun);
      }
    }
    const ids = new Set(this.#endpoints.flatMap(({ inputs }) => inputs.flatMap(idWordsOf)));
    for (const type of used) {
      // The value of a parameter of a path, such as the `key` of a topic for `topicKey`, is no secret.
      const nouns = ['', ...toWords(type.wanted[0] ?? '').map((word) => `${word} `)];
      for (const field of type.module === undefined ? type.fields : []) {
        field.link = type.kind === 'object' ? this.#linkOf(type, field) : undefined;
        field.isSecret = isSecretField(field) && !nouns.some((noun) => ids.has(noun + toWords(field.source).join(' ')));
        add(field.value, type.noun, pages.has(type) && field.source === 'data'); // Visited by this loop too.
        add(scalar(field.link?.type ?? ''), type.noun);
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
        isText(value.type) &&
        !value.isList &&
        !(source.startsWith('_') && loader.key !== '_id' && loader.type.fields.some((each) => each.source === '_id')) &&
        !type.fields.some(({ name, link }) => name === loader.noun || link?.noun === loader.noun),
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

/** Returns the kinds of stored reads that writes to a collection change: those of the built-in endpoints with its noun. */
function emptiesOf(collection: string): string[] | undefined {
  const related = CONTRACT.filter(({ route }) => segmentsOf(route)[0] === collection);
  const kinds = related.flatMap(({ cached, empties = [] }) => [...empties, ...(cached ? [kindOf(cached)] : [])]);
  return toOption([...new Set(kinds)]);
}

/** Returns an option; undefined if it is empty. */
const toOption = <T extends object>(option: T): T | undefined => (Object.keys(option).length > 0 ? option : undefined);

/** Returns the ids that each record of a response must have. */
function identifiersOf({ type }: Value, expect: unknown): string[] {
  const fields = isText(type) || expect === 'value' ? [] : type.fields;
  const items = expect === 'page' ? fields.find(({ source }) => source === 'data') : undefined;
  return items !== undefined
    ? identifiersOf(items.value, 'list')
    : fields.flatMap(({ source, isRequired }) => (isRequired && /^_?id$/.test(source) ? source : []));
}

/** Returns the words of a parameter of a path. */
const idWordsOf = ({ place, source }: FieldPlan): string[] => (place === 'path' ? [toWords(source).join(' ')] : []);

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

/** Returns the words of the record that a path names, such as `topic`, `subscriber`. The paths of lists end with a plural. */
function nounOf(path: string, isList = false): string[] {
  const [last = 'record', before = ''] = segmentsOf(path).toReversed();
  const words = toWords(last);
  const noun = [...toWords(before).map(toSingular), ...(isList ? words : words.map(toSingular))];
  return noun.length === 0 ? ['record'] : noun;
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
    return nounOf(path, !path.endsWith('}'));
  }
  return [{ POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' }[method] ?? '', ...nounOf(path)];
}

/** Returns the first words of a scope. */
const toScopeNoun = (name: string): string =>
  toWords(name)
    .map((word) => word.replace(/\d/g, ''))
    .filter(Boolean)
    .join('-');
