// Plans the types of a module: each schema is a scalar, or an object or enum that is declared once.

import { listOf, recordOf } from '../../lib/is-record.ts';
import { type OpenApiDocument, type Part, Unsupported } from './document.ts';
import { INHERITED, isName, Names, toCamel, toPascal, toSingular, toUpper, toWords } from './names.ts';

export interface Value {
  /** Name of a scalar, or the type. */
  type: string | TypePlan;
  isList: boolean;
  isNullable: boolean;
  /** Decision to take: a sentence. */
  todo?: string | undefined;
}

/** Type that the module declares, or takes from a built-in module. */
export interface TypePlan {
  kind: 'object' | 'input' | 'enum';
  /** Constant with the type, which is named last. */
  name: string;
  /** Names that fit, best first. */
  wanted: string[];
  description: string;
  fields: FieldPlan[];
  values: { name: string; value: string }[];
  /** Built-in module that exports it as `name`. */
  module?: string;
  /** First words of the scopes of the first operation that returns it. */
  noun: string;
  /** Whether an operation returns it itself, not within another type. */
  isRecord: boolean;
  todos: string[];
}

export interface FieldPlan {
  name: string;
  source: string;
  value: Value;
  isRequired: boolean;
  description: string;
  isDeprecated?: boolean;
  /** Smallest and largest number. */
  range?: readonly [min: number, max: number] | undefined;
  /** Part of the request in which it is sent. */
  place?: 'path' | 'query' | 'headers' | 'body';
  /** Whether it is named like a secret. */
  isSecret?: boolean;
  /** Loader of the record whose id it has. */
  link?: LoaderPlan | undefined;
}

/** Loader of the records that an endpoint reads by id. */
export interface LoaderPlan {
  name: string;
  type: TypePlan;
  /** Name of a field with the record. */
  noun: string;
  /** Words of the fields that have the id, such as `workflow id`. */
  id: string;
  /** Member of a record with its id; undefined if the type has none. */
  key: string | undefined;
  /** Endpoint that reads one record; undefined if a built-in module has the loader. */
  get?: EndpointPlan;
  /** Endpoint that reads all records. */
  many?: EndpointPlan | undefined;
}

/** Endpoint with the field of `Query` or `Mutation` that calls it. */
export interface EndpointPlan {
  method: string;
  route: string;
  operation: Part;
  field: string;
  /** First words of the scope. */
  noun: string;
  inputs: FieldPlan[];
  /** Whether one input is the whole body, because the document leaves its members open. */
  hasWholeBody?: boolean;
  /** Options of `endpoint`. */
  options: Record<string, unknown>;
  /** Value of the response; undefined if there is none. */
  response: Value | undefined;
  /** Loader that the field reads with, one record or all. */
  loader?: LoaderPlan;
  todos: (string | undefined)[];
}

export interface Use {
  use: 'input' | 'output';
  /** Words for the name of its type, if the document has none. */
  words: readonly string[];
  /** First words of the scopes of its type. */
  noun: string;
  /** Name of the member that has it. */
  property?: string;
  /** Name of the field with the records, if it is a page. */
  items?: string | undefined;
  /** Objects around it that have no name in the document. */
  depth?: number;
}

/** Maximum depth of objects that have no name in the document. Deeper ones are JSON. */
const MAX_DEPTH = 6;

/** Largest integer of GraphQL's Int. */
const MAX_INT = 2 ** 31 - 1;

const SUFFIXES = /(?:Response|Request)?(?:Dto|DTO)$/;

export class Types {
  readonly #document: OpenApiDocument;
  readonly #objects = new Map<string, TypePlan>();
  /** Objects contain others and themselves, so their fields are planned later. */
  readonly #pending: (() => void)[] = [];
  readonly #enums = new Map<string, TypePlan>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  /** Plans a value. @throws {Unsupported} if its schema is in another document */
  valueOf(part: unknown, use: Use): Value {
    const { isNullable } = this.#document.schemaOf(part);
    return { ...this.#nonNullOf(part, use), isNullable };
  }

  #nonNullOf(part: unknown, use: Use): Value {
    const { words, property = '', depth = 0 } = use;
    const { schema, name, hasAlternatives } = this.#document.schemaOf(part);
    const properties = Object.keys(recordOf(schema.properties));
    const type = schema.type ?? (properties.length > 0 ? 'object' : undefined);
    if (hasAlternatives) {
      return json('The document allows several forms.');
    }
    if (depth > MAX_DEPTH && name === undefined && (type === 'array' || properties.length > 0)) {
      return json('It is nested too deeply for types that have no names.');
    }
    switch (type) {
      case 'array': {
        const item = this.#document.schemaOf(schema.items);
        const singular = [...words.slice(0, -1), ...words.slice(-1).map(toSingular)];
        const value = this.#nonNullOf(schema.items, { ...use, words: singular, depth: depth + 1 });
        return value.isList || item.isNullable
          ? json('A list of lists, or of values that can be null.')
          : { ...value, isList: value.type !== 'JSON' };
      }
      case 'object': {
        const isUsable =
          use.use === 'input'
            ? properties.every((each) => /^(?!__)[_A-Za-z]\w*$/.test(each) && !INHERITED.includes(each))
            : properties.some(isName);
        return scalar(properties.length > 0 && isUsable ? this.#objectOf(schema, name, use) : 'JSONObject');
      }
      case 'string': {
        const texts = listOf(schema.enum).filter(isText);
        const wanted = [toWords(name?.replace(SUFFIXES, '') ?? ''), words].filter((each) => each.length > 0);
        const plan = this.#enumOf(texts, wanted.map(toPascal), describe(schema, 'A value of the service.'));
        const byFormat = { 'date-time': 'DateTime', date: 'LocalDate' }[String(schema.format)];
        return scalar(plan ?? byFormat ?? (/^ids?$/.test(toWords(property).at(-1) ?? '') ? 'ID' : 'String'));
      }
      case 'integer': {
        const isLarge = schema.format === 'int64' || Number(schema.maximum) > MAX_INT;
        return isLarge ? { ...scalar('Float'), todo: 'Int, if it is always below 2^31.' } : scalar('Int');
      }
      default: {
        const plain = { number: 'Float', boolean: 'Boolean' }[String(type)];
        return plain === undefined ? json('The document states no type.') : scalar(plain);
      }
    }
  }

  #objectOf(schema: Part, name: string | undefined, at: Use): TypePlan {
    const form = JSON.stringify([at.use, formOf(schema)], (key, value) => (isComment(key, value) ? undefined : value));
    const known = this.#objects.get(form);
    if (known !== undefined) {
      return known;
    }
    const isInput = at.use === 'input';
    const short = name?.replace(SUFFIXES, '') ?? '';
    const record = short.replace(/^(?:Get|List|Create|Update|Rename)(?=[A-Z])|Response$/g, '');
    const names = [...(isInput ? [] : [toWords(record)]), toWords(short), at.words].filter((each) => each.length > 0);
    const wanted = names.map(toPascal).map((each) => (isInput ? `${each.replace(/Input$/, '')}Input` : each));
    const description = describe(schema, at.items ? 'A page of a list.' : 'A value of the service.');
    const plan = newType(isInput ? 'input' : 'object', wanted, description, at.noun);
    const [first = 'Record'] = wanted;
    this.#objects.set(form, plan);
    this.#pending.push(() => {
      const depth = name === undefined ? (at.depth ?? 0) + 1 : 1;
      plan.fields = this.fieldsOf(schema, { ...at, words: toWords(first), depth }, first);
      if (listOf(schema.required).length === 0 && !isInput) {
        plan.todos.push('The document does not state which fields are always sent: remove nullable from these.');
      }
    });
    return plan;
  }

  /**
   * Plans the members of an object.
   *
   * @param args names of the arguments, if they are some; other inputs are sent as they are
   * @throws {Unsupported} if an argument that is required can't be written
   */
  fieldsOf(schema: Part, use: Use, part: string, args?: Names): FieldPlan[] {
    const isInput = use.use === 'input';
    const names = args ?? new Names(INHERITED);
    const planned = Object.entries(recordOf(schema.properties)).map(([source, member]) => {
      const isRequired = listOf(schema.required).includes(source);
      return this.#document.try(`${part}.${source}`, args !== undefined && isRequired, (): FieldPlan[] => {
        const inner = this.#document.schemaOf(member).schema;
        const { readOnly, writeOnly }: Part = { ...inner, ...recordOf(member) };
        if ((isInput ? readOnly : writeOnly) === true) {
          return [];
        }
        assertName(source);
        const isItems = use.items !== undefined && source === 'data';
        const words = [...use.words, ...toWords(source)];
        const value = this.valueOf(member, { ...use, words, property: source, items: undefined });
        const resolved: Part = { ...(isText(value.type) ? inner : {}), ...recordOf(member) };
        const wanted = isItems ? use.items : isInput && args === undefined ? source : undefined;
        const field = newField(names, source, value, resolved, wanted);
        const isDeprecated = resolved.deprecated === true;
        return [{ ...field, isRequired: isItems || isRequired, isDeprecated, range: rangeOf(resolved, value) }];
      });
    });
    return planned.flat(2);
  }

  /** Returns the enum of certain texts; undefined if they can't be names. Equal lists of values are one enum. */
  #enumOf(texts: readonly string[], wanted: string[], description: string): TypePlan | undefined {
    const values = texts.map((value) => ({ name: toUpper(toWords(value)), value }));
    const isUsable = values.every((each) => /^(?!TRUE$|FALSE$|NULL$)./.test(each.name));
    if (values.length === 0 || !isUsable || new Set(values.map((each) => each.name)).size < values.length) {
      return undefined;
    }
    const key = JSON.stringify(texts.toSorted());
    const plan = this.#enums.get(key) ?? { ...newType('enum', wanted, description), values };
    this.#enums.set(key, plan);
    return plan;
  }

  complete(): void {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      next();
    }
    const done = new Set<TypePlan>();
    const cutCircles = (plan: TypePlan, above: readonly unknown[]): void => {
      for (const field of done.has(plan) || plan.kind !== 'input' ? [] : plan.fields) {
        const { type } = field.value;
        if (above.includes(type)) {
          field.value = json('An object that contains itself.');
        } else if (!isText(type)) {
          cutCircles(type, [...above, type]);
        }
      }
      done.add(plan);
    };
    for (const plan of this.#objects.values()) {
      cutCircles(plan, [plan]);
    }
  }
}

/** Returns what is the same for copies of an object, which are one type. */
const formOf = ({ properties, required }: Part): unknown =>
  Object.entries(recordOf(properties))
    .map(([name, part]) => [name, part, listOf(required).includes(name)])
    .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));

/** Whether a member of a schema says nothing about its type. Properties with these names are objects. */
const isComment = (key: string, value: unknown): boolean =>
  /^(?:description|title|summary|examples?)$/.test(key) && (isText(value) || Array.isArray(value));

const newType = (kind: TypePlan['kind'], wanted: string[], description: string, noun = ''): TypePlan => {
  return { kind, name: '', wanted, description, fields: [], values: [], noun, isRecord: false, todos: [] };
};

export function newField(
  ...[names, source, value, part = {}, wanted = toCamel(toWords(source))]: [Names, string, Value, Part?, string?]
): FieldPlan {
  const name = names.take([wanted]);
  value.todo ??= name === wanted ? undefined : `Find a better name: ${wanted} exists.`;
  return { name, source, value, isRequired: true, description: describe(part, `The service's \`${source}\`.`) };
}

export const scalar = (type: Value['type']): Value => ({ type, isList: false, isNullable: false });

export const json = (todo: string): Value => ({ ...scalar('JSON'), todo });

export const isText = (value: unknown): value is string => typeof value === 'string';

/** @throws {Unsupported} if a property or parameter can't be written */
export function assertName(name: string): void {
  if (!isName(name)) {
    throw new Unsupported('its name is too long, has no letters, or is that of a member of every object');
  }
}

/** Returns the first text that describes a part. */
export const describe = ({ description, summary, title }: Part, fallback: string): string =>
  [description, summary, title, fallback]
    .filter(isText)
    .find((text) => text.trim() !== '')
    ?.trim()
    .toWellFormed() ?? '';

/** Returns the smallest and the largest number of a parameter. */
function rangeOf({ minimum, maximum }: Part, { type, isList }: Value): FieldPlan['range'] {
  const [min, max] = [minimum, maximum].map((bound) => (typeof bound === 'number' ? bound : undefined));
  const hasRange = (type === 'Int' || type === 'Float') && !isList && (min ?? max) !== undefined;
  return hasRange ? [min ?? Number.MIN_SAFE_INTEGER, max ?? Number.MAX_SAFE_INTEGER] : undefined;
}
