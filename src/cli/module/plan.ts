// Plans a module: its endpoints, their fields, and loaders.

import type { GraphQLSchema } from 'graphql';
import { listOf, recordOf } from '../../lib/is-record.ts';
import { HEADER_NAME, HEADER_VALUE } from '../../settings/define.ts';
import { isScope } from '../../settings/scopes.ts';
import { type Expected, endpoint, kindOf } from '../../upstream/endpoint.ts';
import { CONTRACT } from '../../upstream/endpoints.ts';
import { type OpenApiDocument, type Operation, type Part, Unsupported } from './document.ts';
import { fieldNameOf, INHERITED, isSecret, Names, segmentsOf, toCamel, toPascal, toWords } from './names.ts';
import type { EndpointPlan, FieldPlan, LoaderPlan, TypePlan, Use, Value } from './types.ts';
import { assertName, describe, isText, json, newField, scalar, Types } from './types.ts';

export interface ModulePlan {
  name: string;
  endpoints: EndpointPlan[];
  types: TypePlan[];
  loaders: LoaderPlan[];
}

/** Headers that the gateway sets itself, or that OpenAPI says to ignore. */
const OWN_HEADERS = /^(?:accept|authorization|content-type|x-request-id)$/i;

/** Names of `CallArgs` and `WriteOptions`, which parameters of a path can't have. */
const RESERVED_PARAMS = ['query', 'body', 'headers', 'idempotencyKey', 'isBulkItem'];

/** Endpoints whose responses show which types of the document are built in, with the names that their modules export. */
const BUILT_IN_TYPES: Readonly<Record<string, readonly [module: string, type: string, loader?: string]>> = {
  'GET /v1/workflows/{}': ['workflows', 'Workflow', 'workflow'],
  'GET /v1/notification-groups/{}': ['notificationGroups', 'NotificationGroup', 'notificationGroup'],
  'POST /v1/subscribers': ['subscribers', 'Subscriber'],
  'POST /v1/feeds': ['feeds', 'Feed'],
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
  readonly #loaderNames = new Names();
  readonly #endpoints: EndpointPlan[] = [];
  readonly #loaders: LoaderPlan[] = [];

  /**
   * @param name name of the module
   * @param builtIn schema without modules, whose names are not used again
   */
  constructor(document: OpenApiDocument, name: string, builtIn: GraphQLSchema) {
    const roots = [builtIn.getQueryType(), builtIn.getMutationType()];
    this.#document = document;
    this.#name = name;
    this.#types = new Types(document);
    this.#typeNames = new Names([...Object.keys(builtIn.getTypeMap()), 'Subscription']);
    this.#fieldNames = new Names(roots.flatMap((root) => Object.keys(root?.getFields() ?? {})));
  }

  plan(matches: (route: string) => boolean): ModulePlan {
    for (const [route, item] of this.#document.paths) {
      for (const operation of this.#document.try(route, false, () => this.#document.operationsOf(route, item)).flat()) {
        this.#document.try(`${operation.method} ${route}`, false, () => {
          this.#findBuiltIn(operation);
          return matches(route) && this.#planEndpoint(operation);
        });
      }
    }
    this.#types.complete();
    for (const { method, options, response } of this.#endpoints) {
      const isPage = options.expect === 'page';
      const type = objectOf(response);
      const record = isPage ? objectOf(type?.fields.find(({ source }) => source === 'data')?.value) : type;
      const ids = record?.fields.filter(({ source, isRequired }) => isRequired && /^_?id$/.test(source)) ?? [];
      options.identifiedBy = options.expect === 'value' ? undefined : toOption(ids.map(({ source }) => source));
      for (const each of [type, record]) {
        Object.assign(each ?? {}, method === 'GET' && { isRecord: true });
      }
    }
    this.#planLoaders();
    const types = this.#usedTypes();
    for (const type of types.filter(({ module }) => module === undefined)) {
      const [first = 'Record'] = type.wanted;
      type.name = this.#typeNames.take([...type.wanted, toPascal(toWords(this.#name)) + first]);
      if (!type.wanted.includes(type.name)) {
        type.todos.push(`Find a better name: ${first} exists.`);
      }
    }
    return { name: this.#name, endpoints: this.#endpoints, types, loaders: this.#loaders };
  }

  /** Recognizes a built-in type by the response of a built-in endpoint. */
  #findBuiltIn(operation: Operation): void {
    const [module, name = '', loader] = BUILT_IN_TYPES[formOf(operation)] ?? [];
    const type = module && objectOf(this.#planResponse(operation, { words: [name], noun: '', use: 'input' }).response);
    if (type) {
      Object.assign(type, { name, module });
    }
    if (type && loader !== undefined) {
      const id = `${toWords(loader).join(' ')} id`;
      this.#loaders.push({ name: loader, type, noun: loader, key: '_id', id });
    }
  }

  #planEndpoint(planned: Operation): void {
    const { method, route, operation } = planned;
    const isQuery = method === 'GET';
    if (CONTRACT.some((each) => formOf(each) === formOf(planned))) {
      throw new Unsupported('a built-in field calls it');
    }
    const [collection = ''] = segmentsOf(route);
    const words = fieldNameOf(method, route, operation.operationId);
    const noun = [collection, this.#name].map(toScopeNoun).find((noun) => isScope(`${noun}:read`)) ?? 'module';
    const use: Use = { words, noun, use: 'input' };
    const names = new Names(['idempotencyKey', ...INHERITED]);
    const { expect, response, todo } = this.#planResponse(planned, use);
    const options = {
      expect: expect === 'record' ? undefined : expect,
      empties: isQuery ? undefined : emptiesOf(collection),
    };
    const plan: EndpointPlan = {
      method,
      route,
      operation,
      field: '',
      noun,
      inputs: [],
      options,
      response,
      todos: [todo],
    };
    const parameters = this.#document.parametersOf(planned);
    this.#planPath(plan, parameters, names);
    for (const parameter of parameters) {
      const part = `${method} ${plan.route}, ${parameter.in} parameter ${parameter.name}`;
      this.#document.try(part, parameter.required === true, () => this.#planParameter(plan, parameter, use, names));
    }
    if (isQuery && operation.requestBody !== undefined) {
      this.#document.skipped.push({ part: `${method} ${route}, body`, reason: 'a GET has none' });
    } else if (operation.requestBody !== undefined) {
      this.#planBody(plan, use, names);
    }
    const wanted = toCamel(words);
    const ends = isQuery ? [] : ['Input', 'Success', 'Result'];
    plan.field = this.#fieldNames.take([wanted, toCamel([...toWords(this.#name), ...words])], (name) =>
      ends.every((end) => !this.#typeNames.has(toPascal([name]) + end)),
    );
    for (const end of ends) {
      this.#typeNames.take([toPascal([plan.field]) + end]);
    }
    plan.todos.push(plan.field === wanted ? undefined : `Find a better name: ${wanted} exists.`);
    this.#endpoints.push(plan);
  }

  /** Plans the parameters of a path, and renames those that no endpoint can have. */
  #planPath(plan: EndpointPlan, parameters: readonly Part[], names: Names): void {
    const sources = new Names(RESERVED_PARAMS);
    plan.route = plan.route.replace(/\{([^{}]+)\}/g, (_, name: string) => {
      assertName(name);
      const source = sources.take(/^\w+$/.test(name) ? [name, `${name}Param`] : [toCamel(toWords(name))]);
      const part = parameters.find((each) => each.in === 'path' && each.name === name) ?? {};
      plan.inputs.push({ ...newField(names, source, scalar('ID'), part), place: 'path' });
      return `{${source}}`;
    });
    try {
      endpoint(`GET /${plan.route.slice(1)}`);
    } catch {
      throw new Unsupported('its path has a segment that no endpoint can have');
    }
  }

  /** Plans a parameter of the query or a header. Those of the path are planned with it. */
  #planParameter({ method, route, inputs, options }: EndpointPlan, parameter: Part, use: Use, names: Names): void {
    const { in: place, name: sent, schema: part, content } = parameter;
    const name = String(sent);
    const isRequired = parameter.required === true;
    const { schema } = this.#document.schemaOf(part);
    if (place === 'cookie') {
      throw new Unsupported('the gateway sends no cookies');
    }
    if (place === 'query') {
      const members = Object.entries(recordOf(schema.properties)); // Those of an object are several parameters.
      const toName = (key: unknown) => (parameter.style === 'deepObject' ? `${name}[${key}]` : String(key));
      const planned = this.#types.fieldsOf(
        members.length === 0
          ? { properties: { [name]: content === undefined ? part : {} }, required: isRequired ? [name] : [] }
          : {
              properties: Object.fromEntries(members.map(([key, each]) => [toName(key), each])),
              required: isRequired ? listOf(schema.required).map(toName) : [],
            },
        use,
        `${method} ${route}, query`,
        names,
      );
      for (const field of planned) {
        const { type, isList } = field.value;
        const isPlain = isText(type) ? !type.startsWith('JSON') : type.kind === 'enum';
        const text = { ...scalar('String'), todo: 'The text is sent as it is: the document allows other forms.' };
        const description = describe(parameter, field.description);
        inputs.push({ ...field, place, description, value: isPlain ? field.value : text });
        options.lists = isList && parameter.explode === false ? 'comma' : options.lists;
      }
    } else if (place === 'header' && /^idempotency-key$/i.test(name)) {
      options.idempotent = method === 'GET' ? undefined : true;
    } else if (place === 'header' && !OWN_HEADERS.test(name)) {
      if (!HEADER_NAME.test(name)) {
        throw new Unsupported('no endpoint can declare this header');
      }
      assertName(name);
      const [only, ...others] = listOf(schema.enum);
      const isFixed = isRequired && others.length === 0 && isText(only) && HEADER_VALUE.test(only);
      options.headers = { ...recordOf(options.headers), [name]: isFixed ? only : true };
      if (!isFixed) {
        inputs.push({ ...newField(names, name, scalar('String'), parameter), isRequired, place: 'headers' });
      }
    }
  }

  #planBody(plan: EndpointPlan, use: Use, names: Names): void {
    const { content } = this.#document.resolve(plan.operation.requestBody);
    const found = mediaOf(content, JSON_TYPE) ?? mediaOf(content, /^application\/x-www-form-urlencoded/i);
    if (found === undefined) {
      throw new Unsupported(`its body is ${typesOf(content)}, neither JSON nor a form`);
    }
    plan.options.bodyFormat = found.type.includes('form') ? 'form' : undefined;
    const { schema, hasAlternatives } = this.#document.schemaOf(found.schema);
    if (Object.keys(recordOf(schema.properties)).length > 0 && !hasAlternatives) {
      const fields = this.#types.fieldsOf(schema, use, `${plan.method} ${plan.route}, body`, names);
      const texts = fields.filter(({ value }) => value.type === 'String' && !value.isList);
      plan.inputs.push(...fields.map((field) => ({ ...field, place: 'body' as const })));
      plan.options.multiline = toOption(texts.map(({ source }) => source).filter((source) => MULTILINE.test(source)));
      return;
    }
    const open = { ...scalar('JSONObject'), todo: 'Declare the fields of the body, which the document leaves open.' };
    const list = this.#types.valueOf(found.schema, { ...use, words: [...use.words, 'item'] });
    if (!list.isList && ![undefined, 'object', 'array'].some((type) => type === schema.type)) {
      throw new Unsupported('its body is neither an object nor a list');
    }
    const value = list.isList ? { ...list, isNullable: false } : open;
    plan.inputs.push({ ...newField(names, 'body', value), place: 'body' });
    plan.hasWholeBody = true;
  }

  #planResponse(
    { method, route, operation }: Operation,
    { words, noun }: Use,
  ): { expect: Expected; response?: Value; todo?: string | undefined } {
    const all = Object.entries(recordOf(operation.responses)).filter(([status]) => /^2|^default$/.test(status));
    const [status, sent] = all.find(([each]) => /^2(?!04)/.test(each)) ?? all[0] ?? [];
    if (status === '204' && method !== 'GET') {
      return { expect: 'nothing' };
    }
    const { content } = sent === undefined ? {} : this.#document.resolve(sent);
    const found = mediaOf(content, JSON_TYPE);
    if (Object.keys(recordOf(content)).length === 0) {
      return { expect: 'value', response: json('The document describes no response.') };
    }
    if (found === undefined && mediaOf(content, /\b(?:text|xml|yaml|x-ndjson)\b/i) === undefined) {
      throw new Unsupported(`its response is ${typesOf(content)}, neither JSON nor a text`);
    }
    if (found === undefined) {
      return { expect: 'text', response: scalar('String') };
    }
    const use: Use = { words: method === 'GET' ? words : [...words, 'response'], noun, use: 'output' };
    const { data, ...others } = recordOf(this.#document.schemaOf(found.schema).schema.properties);
    const isEnvelope = data !== undefined && others._organizationId === undefined;
    const value = this.#types.valueOf(isEnvelope ? data : found.schema, use);
    const hasOthers = isEnvelope && Object.keys(others).length > 0;
    if (hasOthers && value.isList && objectOf(value) !== undefined) {
      const items = toCamel(toWords(segmentsOf(route).at(-1) ?? 'items'));
      const page = this.#types.valueOf(found.schema, { ...use, words: [...use.words, 'page'], items });
      return { expect: 'page', response: { ...page, isNullable: false } };
    }
    const isRecord = objectOf(value) !== undefined && !value.isNullable;
    const todo = 'The document has members beside data, which are not returned: the gateway removes the envelope.';
    return {
      expect: isRecord ? (value.isList ? 'list' : 'record') : 'value',
      response: value,
      todo: hasOthers ? todo : undefined,
    };
  }

  /** Plans a loader for each endpoint that reads a record by its id only. */
  #planLoaders(): void {
    const reads = this.#endpoints.filter(({ method }) => method === 'GET');
    for (const get of reads) {
      const [param, ...others] = get.inputs;
      const type = objectOf(get.response);
      if (param?.place !== 'path' || others.length > 0 || get.options.expect !== undefined || type === undefined) {
        continue;
      }
      const words = toWords(param.source);
      const isLong = words.length > 1 && /^(?:id|key|identifier)$/.test(words.at(-1) ?? '');
      const noun = toCamel(isLong ? words.slice(0, -1) : toWords(type.wanted[0] ?? ''));
      const keys = words.map((_, i) => words.slice(i).join(' ')); // The longest is the best one.
      const sources = keys.flatMap((key) => type.fields.filter(({ source }) => toWords(source).join(' ') === key));
      const key = sources[0]?.source;
      const list = reads.find(
        ({ route, inputs, options, response }) =>
          options.expect === 'list' &&
          inputs.length === 0 &&
          response?.type === type &&
          get.route === `${route}/{${param.source}}`,
      );
      const many = key === undefined ? undefined : list;
      const name = this.#loaderNames.take([`${noun}Loader`, `${get.field}Loader`]);
      get.loader = { name, type, noun, key, id: [...toWords(noun), words.at(-1)].join(' '), get, many };
      Object.assign(many ?? {}, { loader: get.loader });
      this.#loaders.push(get.loader);
    }
  }

  /** Returns the types that endpoints use, with the links and secrets of their fields. Others belong to endpoints that were skipped later. */
  #usedTypes(): TypePlan[] {
    const inputs = this.#endpoints.flatMap((each) => each.inputs);
    const ids = inputs.filter(({ place }) => place === 'path').map(({ source }) => toWords(source).join(' '));
    const values = this.#endpoints.flatMap(({ response, inputs }) => [response, ...inputs.map(({ value }) => value)]);
    const used = new Set(values.flatMap((value) => value?.type ?? []));
    for (const type of used) {
      const { kind, wanted, fields } = isText(type) || type.module !== undefined ? NO_TYPE : type;
      // The value of a parameter of a path, such as the `key` of a topic for `topicKey`, is no secret.
      const nouns = ['', ...toWords(wanted[0] ?? '').map((word) => `${word} `)];
      for (const field of fields) {
        const { source, value } = field;
        const isFree = value.type === 'Boolean' || (!isText(value.type) && value.type.kind === 'enum');
        const isId = nouns.some((noun) => ids.includes(noun + toWords(source).join(' ')));
        field.isSecret = isSecret(source) && !isFree && !isId;
        field.link = kind === 'object' ? this.#loaders.find((loader) => isLink(fields, field, loader)) : undefined;
        used.add(value.type).add(field.link?.type ?? ''); // Visited by this loop too.
      }
    }
    return [...used].filter((type) => typeof type !== 'string');
  }
}

const NO_TYPE: Pick<TypePlan, 'kind' | 'wanted' | 'fields'> = { kind: 'object', wanted: [], fields: [] };

/** Whether a field has the id of a loader's records. An id such as `_subscriberId` is not that of a loader with another key. */
function isLink(
  fields: readonly FieldPlan[],
  { source, value }: FieldPlan,
  { id, type, key, noun }: LoaderPlan,
): boolean {
  const isOther = source.startsWith('_') && key !== '_id' && type.fields.some((each) => each.source === '_id');
  const isTaken = fields.some(({ name, link }) => name === noun || link?.noun === noun);
  return (
    id === toWords(source).join(' ') &&
    fields !== type.fields &&
    isText(value.type) &&
    !value.isList &&
    !isOther &&
    !isTaken
  );
}

/** Returns the kinds of stored reads that writes to a collection change: those of the built-in endpoints with its noun. */
function emptiesOf(collection: string): string[] | undefined {
  const related = CONTRACT.filter(({ route }) => segmentsOf(route)[0] === collection);
  const kinds = related.flatMap(({ cached, empties = [] }) => [...empties, ...(cached ? [kindOf(cached)] : [])]);
  return toOption([...new Set(kinds)]);
}

/** Returns an option; undefined if it is empty. */
const toOption = (option: string[]): string[] | undefined => (option.length > 0 ? option : undefined);

/** Returns the object type of a value, or of the items of a list. */
const objectOf = (value: Value | undefined): TypePlan | undefined =>
  value === undefined || isText(value.type) || value.type.kind !== 'object' ? undefined : value.type;

const formOf = ({ method, route }: { method: string; route: string }): string =>
  `${method} ${route.replace(/\{[^{}]*\}/g, '{}')}`;

const JSON_TYPE = /^(?:application\/(?:[\w.-]+\+)?json|\*\/\*)\s*(?:;|$)/i;

/** Returns the first of the media types of a body that matches. */
function mediaOf(content: unknown, pattern: RegExp): { type: string; schema: unknown } | undefined {
  const [type, media] = Object.entries(recordOf(content)).find(([each]) => pattern.test(each)) ?? [];
  return type === undefined ? undefined : { type, schema: recordOf(media).schema };
}

const typesOf = (content: unknown): string => Object.keys(recordOf(content)).join(', ') || 'of no type';

/** Returns the first words of a scope. */
const toScopeNoun = (name: string): string => toWords(name.replace(/\d/g, '')).join('-');
