// Plans a module: its endpoints, their fields, and loaders.

import type { GraphQLSchema } from 'graphql';
import { caught } from '../../../../src/lib/caught.ts';
import { arrayOf, recordOf } from '../../../../src/lib/is-record.ts';
import { endpointsOf } from '../../../../src/modules/schema.ts';
import { HEADER_NAME, HEADER_VALUE } from '../../../../src/settings/define.ts';
import { isScope } from '../../../../src/settings/scopes.ts';
import { type DeclaredEndpoint, type Expected, endpoint, RESERVED } from '../../../../src/upstream/endpoint.ts';
import { type DescribedOperation, type DocumentPart, type OpenApiDocument, Unsupported } from './document.ts';
import { fieldNameOf, INHERITED, isSecret, Names, nounOf, segmentsOf, toCamel, toPascal, toWords } from './names.ts';
import type { EndpointPlan, LoaderPlan, MemberPlan, TypePlan, Use, Value } from './types.ts';
import { assertName, describe, isText, json, namesOf, newField, objectOf, scalar, Types } from './types.ts';

export type ModulePlan = ReturnType<Planner['plan']>;

/** Headers that the gateway sets itself, or that OpenAPI says to ignore. */
const OWN_HEADERS = /^(?:accept|authorization|content-type|x-request-id)$/i;

/** Endpoints whose responses show which types of the document are built in, with the names that their modules export. Those that are read have loaders. */
const BUILT_IN_TYPES: Readonly<Record<string, readonly [module: string, type: string]>> = {
  'GET /v1/workflows/{}': ['workflows', 'Workflow'],
  'GET /v1/notification-groups/{}': ['notificationGroups', 'NotificationGroup'],
  'POST /v1/subscribers': ['subscribers', 'Subscriber'],
  'POST /v1/feeds': ['feeds', 'Feed'],
};

/** Ends of the names of types that each mutation has. */
const TYPE_ENDS = ['Input', 'Success', 'Result'];

/** Texts that can have several lines, by their names or media types. */
const MULTILINE = /(?:html|content|body|description|text|message|markdown|notes?|comments?|css|template)$/i;

/** Plans the module of a document. What can't be written is skipped. */
export class Planner {
  readonly #document: OpenApiDocument;
  readonly #name: string;
  readonly #types: Types;
  readonly #typeNames: Names;
  readonly #fieldNames: Names;
  readonly #existing: readonly DeclaredEndpoint[];
  /** Reasons to leave out endpoints, by their forms. */
  readonly #taken: Map<string, string>;
  /** Words of parameters of paths, also after their noun. Their values, such as the `key` of a topic for `topicKey`, are no secrets. */
  readonly #ids = new Set<string>();
  readonly #endpoints: EndpointPlan[] = [];
  readonly #loaders: LoaderPlan[] = [];

  /**
   * @param name name of the module
   * @param schema schema with the shipped modules, whose names and endpoints are not used again
   */
  constructor(document: OpenApiDocument, name: string, schema: GraphQLSchema) {
    const roots = [schema.getQueryType(), schema.getMutationType()];
    this.#document = document;
    this.#name = name;
    this.#types = new Types(document);
    const types = Object.keys(schema.getTypeMap());
    const inputs = types.filter((type) => TYPE_ENDS.some((end) => type.endsWith(end))); // Or another type of a mutation.
    const mutations = inputs.map((type) => toCamel(toWords(type).slice(0, -1)));
    this.#typeNames = new Names([...types, 'Subscription']);
    this.#fieldNames = new Names([...mutations, ...roots.flatMap((root) => Object.keys(root?.getFields() ?? {}))]);
    this.#existing = endpointsOf(schema);
    const reasonOf = (of?: string) => `${of === undefined ? 'a built-in field' : `a field of ${of}`} calls it`;
    this.#taken = new Map(this.#existing.map((each) => [formOf(each), reasonOf(each.module)]));
  }

  plan(matches: (route: string) => boolean) {
    for (const operation of this.#document.operations()) {
      this.#document.try(`${operation.method} ${operation.route}`, false, () => {
        this.#findBuiltIn(operation);
        return matches(operation.route) && this.#planEndpoint(operation);
      });
    }
    this.#types.complete();
    for (const { options, response } of this.#endpoints) {
      const type = objectOf(response);
      const item = type?.fields.find(({ source }) => source === 'data')?.value;
      const record = options.expect === 'page' ? objectOf(item) : type;
      const ids = record?.fields.filter(({ source, isRequired }) => isRequired && /^_?id$/.test(source)) ?? [];
      options.identifiedBy = options.expect === 'value' ? undefined : toOption(ids.map(({ source }) => source));
    }
    this.#planLoaders();
    return { name: this.#name, endpoints: this.#endpoints, types: this.#nameTypes(), loaders: this.#loaders };
  }

  /** Recognizes a built-in type by the response of a built-in endpoint. */
  #findBuiltIn(operation: DescribedOperation): void {
    const [module, name = ''] = BUILT_IN_TYPES[formOf(operation)] ?? [];
    const words = toWords(name);
    const use: Use = { words, noun: this.#nounOf(segmentsOf(operation.route)[0]), use: 'input' };
    const type = module && objectOf(this.#planResponse(operation, use)[1]);
    if (type) {
      const loader = { name: toCamel(words), type, noun: toCamel(words), key: '_id', id: `${words.join(' ')} id` };
      Object.assign(type, { name, module });
      this.#loaders.push(...(operation.method === 'GET' ? [loader] : []));
    }
  }

  /** Returns the first words of a scope. */
  #nounOf(name = ''): string {
    const nouns = [name, this.#name].map((each) => toWords(each.replace(/\d/g, '')).join('-'));
    return nouns.find((noun) => isScope(`${noun}:read`)) ?? 'module';
  }

  #planEndpoint(planned: DescribedOperation): void {
    const { method, route, operation } = planned;
    const reason = this.#taken.get(formOf(planned));
    if (reason !== undefined) {
      throw new Unsupported(reason);
    }
    const isQuery = method === 'GET';
    const words = fieldNameOf(method, route, operation.operationId);
    const noun = this.#nounOf(segmentsOf(route)[0]);
    const use: Use = { words, noun, use: 'input' };
    const names = new Names(['idempotencyKey', ...INHERITED]);
    const [expect, response, todo] = this.#planResponse(planned, use);
    const options = { expect: expect === 'record' ? undefined : expect, empties: this.#emptiesOf(planned) };
    const plan: EndpointPlan = { ...planned, field: '', noun, inputs: [], options, response, todo };
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
    plan.field = this.#fieldNames.take(toCamel(words), toCamel([...toWords(this.#name), ...words]));
    for (const end of isQuery ? [] : TYPE_ENDS) {
      this.#typeNames.take(toPascal([plan.field]) + end);
    }
    this.#endpoints.push(plan);
    this.#taken.set(formOf(planned), `it differs from ${method} ${plan.route} only in the name of a parameter`);
    const type = recordReadBy(plan);
    if (type && !type.isRecord) {
      Object.assign(type, { isRecord: true, noun, words: nounOf(route) });
    }
  }

  /** Plans the parameters of a path, and renames those that no endpoint can have. */
  #planPath(plan: EndpointPlan, parameters: readonly DocumentPart[], names: Names): void {
    const sources = new Names(RESERVED);
    plan.route = plan.route.replace(/\{([^{}]+)\}/g, (_, name: string) => {
      assertName(name);
      const source = /^\w+$/.test(name) ? sources.take(name, `${name}Param`) : sources.take(toCamel(toWords(name)));
      const part = parameters.find((each) => each.in === 'path' && each.name === name) ?? {};
      const words = toWords(source).join(' ');
      this.#ids.add(words).add(`${plan.noun} ${words}`);
      plan.inputs.push({ ...newField(names, source, scalar('ID'), part), place: 'path' });
      return `{${source}}`;
    });
    if (caught(TypeError, () => endpoint(`GET /${plan.route.slice(1)}`))) {
      throw new Unsupported('its path has a segment that no endpoint can have');
    }
  }

  /** Plans a parameter of the query or a header. Those of the path are planned with it. */
  #planParameter(
    { method, route, inputs, options }: EndpointPlan,
    parameter: DocumentPart,
    use: Use,
    names: Names,
  ): void {
    const { in: place, name: sent, schema: part, content } = parameter;
    const name = String(sent);
    const isRequired = parameter.required === true;
    const { schema } = this.#document.schemaOf(part);
    if (place === 'query') {
      const members = Object.entries(recordOf(schema.properties)); // Those of an object are several parameters.
      const isObject = members.length > 0;
      const toName = (key: unknown) => (isObject && parameter.style === 'deepObject' ? `${name}[${key}]` : String(key));
      const all = isObject ? members : [[name, content === undefined ? part : {}]];
      const properties = Object.fromEntries(all.map(([key, each]) => [toName(key), each]));
      const required = isObject ? arrayOf(schema.required).map(toName) : [name];
      const object = { properties, required: isRequired ? required : [] };
      for (const field of this.#types.fieldsOf(object, use, `${method} ${route}, query`, names)) {
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
      const [only, ...others] = arrayOf(schema.enum);
      const isFixed = isRequired && others.length === 0 && isText(only) && HEADER_VALUE.test(only);
      options.headers = { ...recordOf(options.headers), [name]: isFixed ? only : true };
      if (!isFixed) {
        inputs.push({ ...newField(names, name, scalar('String'), parameter), isRequired, place: 'headers' });
      }
    } else if (place === 'cookie') {
      throw new Unsupported('the gateway sends no cookies');
    }
  }

  #planBody(plan: EndpointPlan, use: Use, names: Names): void {
    const { content } = this.#document.resolve(plan.operation.requestBody);
    const found = mediaOf(content, JSON_TYPES) ?? mediaOf(content, /^application\/x-www-form-urlencoded/i);
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
    { method, route, operation }: DescribedOperation,
    { words, noun }: Use,
  ): [Expected, Value?, (string | undefined)?] {
    const all = Object.entries(recordOf(operation.responses)).filter(([status]) => /^2|^default$/.test(status));
    const [status, sent] = all.find(([each]) => /^2(?!04)/.test(each)) ?? all[0] ?? [];
    if (status === '204' && method !== 'GET') {
      return ['nothing'];
    }
    const { content } = sent === undefined ? {} : this.#document.resolve(sent);
    const found = mediaOf(content, JSON_TYPES);
    const isEmpty = Object.keys(recordOf(content)).length === 0;
    if (found === undefined && (isEmpty || mediaOf(content, /\b(?:text|xml|yaml|x-ndjson)\b/i))) {
      return isEmpty ? ['value', json('The document describes no response.')] : ['text', scalar('String')];
    }
    if (found === undefined) {
      throw new Unsupported(`its response is ${typesOf(content)}, neither JSON nor a text`);
    }
    const use: Use = { words: method === 'GET' ? words : [...words, 'response'], noun, use: 'output' };
    const { data, ...others } = recordOf(this.#document.schemaOf(found.schema).schema.properties);
    const isEnvelope = data !== undefined && !Object.keys(others).some((name) => /^(_?id|_organizationId)$/.test(name));
    const value = this.#types.valueOf(isEnvelope ? data : found.schema, use);
    const hasOthers = isEnvelope && Object.keys(others).length > 0;
    if (hasOthers && value.isList && objectOf(value) !== undefined) {
      const items = toCamel(toWords(segmentsOf(route).at(-1) ?? 'items'));
      const page = this.#types.valueOf(found.schema, { ...use, words: [...use.words, 'page'], items });
      return ['page', { ...page, isNullable: false }];
    }
    const expect = objectOf(value) === undefined || value.isNullable ? 'value' : value.isList ? 'list' : 'record';
    const todo = 'The document has members beside data, which are not returned: the gateway removes the envelope.';
    return [expect, value, hasOthers ? todo : undefined];
  }

  /** Plans a loader for each endpoint that reads a record by its id only. */
  #planLoaders(): void {
    const reads = this.#endpoints.filter(({ method }) => method === 'GET');
    const lists = reads.filter(({ options, inputs }) => options.expect === 'list' && inputs.length === 0);
    const listByRoute = new Map(lists.map((list) => [list.route, list]));
    for (const get of reads) {
      const [param, ...others] = get.inputs;
      const type = recordReadBy(get);
      if (param === undefined || others.length > 0 || type === undefined) {
        continue;
      }
      const words = toWords(param.source);
      const isLong = words.length > 1 && /^(?:id|key|identifier)$/.test(words.at(-1) ?? '');
      const noun = toCamel(isLong ? words.slice(0, -1) : toWords(namesOf(type)[0] ?? ''));
      const find = (name: string) => type.fields.find(({ source }) => toWords(source).join(' ') === name)?.source;
      const key = find(words.join(' ')) ?? find(words.at(-1) ?? '');
      const list = listByRoute.get(get.route.slice(0, get.route.lastIndexOf('/')));
      const many = key !== undefined && list?.response?.type === type ? list : undefined;
      const id = [...toWords(noun), words.at(-1)].join(' ');
      get.loader = { name: `${get.field}Loader`, type, noun, key, id, get, many };
      Object.assign(many ?? {}, { loader: get.loader });
      this.#loaders.push(get.loader);
    }
  }

  /** Returns the types that endpoints use, by name, with the links and secrets of their fields. Others belong to endpoints that were skipped later. */
  #nameTypes(): TypePlan[] {
    const values = this.#endpoints.flatMap(({ response, inputs }) => [response, ...inputs.map(({ value }) => value)]);
    const loaders = Map.groupBy(this.#loaders, ({ id }) => id);
    const planOf = (of: Pick<Value, 'type'> | undefined) => (of === undefined || isText(of.type) ? [] : [of.type]);
    const used = new Set(values.flatMap(planOf));
    for (const type of used) {
      const { kind, noun, module } = type;
      const fields = module === undefined ? type.fields : [];
      const nouns = [noun, ...toWords(namesOf(type)[0] ?? '')];
      for (const field of fields) {
        const { source, value } = field;
        const words = toWords(source).join(' ');
        const isFree = value.type === 'Boolean' || (!isText(value.type) && value.type.kind === 'enum');
        const isOpen = !isSecret(source) || isFree || nouns.some((each) => this.#ids.has(`${each} ${words}`));
        const linked = isOpen && kind === 'object' ? loaders.get(words) : undefined;
        field.secretScope = isOpen ? undefined : `${this.#nounOf(noun)}-secrets:read`;
        field.link = linked?.find((loader) => isLink(fields, field, loader));
        for (const plan of [value, field.link].flatMap(planOf)) {
          used.add(plan); // Visited by the loop over the types too.
        }
      }
    }
    const types = [...used];
    const rankOf = ({ isRecord, titles }: TypePlan) => (isRecord ? 0 : titles.length === 0 ? 2 : 1);
    for (const type of types.toSorted((a, b) => rankOf(a) - rankOf(b))) {
      const [first = 'Record', ...others] = namesOf(type);
      type.name ||= this.#typeNames.take(first, ...others, toPascal(toWords(this.#name)) + first);
    }
    return types.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns the kinds of stored reads that a write changes: those of the existing endpoints with its noun. */
  #emptiesOf({ method, route }: DescribedOperation): string[] | undefined {
    const related = this.#existing.filter((each) => segmentsOf(each.route)[0] === segmentsOf(route)[0]);
    const kinds = related.flatMap(({ cached, empties = [] }) => [...empties, ...(cached ? [cached.kind] : [])]);
    return method === 'GET' ? undefined : toOption([...new Set(kinds)]);
  }
}

/** Whether a field has the id of a loader's records. An id such as `_subscriberId` is not that of a loader with another key. */
function isLink(fields: readonly MemberPlan[], field: MemberPlan, { type, key, noun }: LoaderPlan): boolean {
  const isOther = field.source.startsWith('_') && key !== '_id' && type.fields.some(({ source }) => source === '_id');
  const isTaken = fields.some(({ name, link }) => name === noun || link?.noun === noun);
  return fields !== type.fields && isText(field.value.type) && !field.value.isList && !isOther && !isTaken;
}

/** Returns the type of the one record that an endpoint reads by its id: the path ends with a parameter. */
const recordReadBy = ({ method, route, options, response }: EndpointPlan): TypePlan | undefined =>
  method === 'GET' && /\/\{\w+\}$/.test(route) && options.expect === undefined ? objectOf(response) : undefined;

/** Returns an option; undefined if it is empty. */
const toOption = (option: string[]): string[] | undefined => (option.length > 0 ? option : undefined);

const formOf = ({ method, route }: { method: string; route: string }): string =>
  `${method} ${route.replace(/\{[^{}]*\}/g, '{}')}`;

const JSON_TYPES = /^(?:application\/(?:[\w.-]+\+)?json|\*\/\*)\s*(?:;|$)/i;

/** Returns the first of the media types of a body that matches. */
function mediaOf(content: unknown, pattern: RegExp): { type: string; schema: unknown } | undefined {
  const [type, media] = Object.entries(recordOf(content)).find(([each]) => pattern.test(each)) ?? [];
  return type === undefined ? undefined : { type, schema: recordOf(media).schema };
}

const typesOf = (content: unknown): string => Object.keys(recordOf(content)).join(', ') || 'of no type';
