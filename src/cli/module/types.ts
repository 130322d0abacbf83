import { type GraphQLSchema, isEnumType } from 'graphql';
import { listOf, type OpenApiDocument, type Part, recordOf, Unsupported } from './document.ts';
import {
  findNameProblem,
  INHERITED,
  isSecret,
  Names,
  toCamel,
  toPascal,
  toSingular,
  toUpper,
  toWords,
} from './names.ts';

// Plans the types of a module: each schema is a scalar, or an object or enum that is declared once.

/** Type of a value. */
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
  /** Fields of an object or an input. */
  fields: FieldPlan[];
  /** Values of an enum. */
  values: { name: string; value: string }[];
  /** Built-in module that exports it as `name`. */
  module?: string;
  /** First words of the scopes of the first operation that returns it. */
  noun: string;
  /** Whether an operation returns it itself, not within another type. */
  isRecord: boolean;
  todos: string[];
}

/** Part of a request. */
export type Place = 'path' | 'query' | 'headers' | 'body';

/** Field of a type, or an argument. */
export interface FieldPlan {
  name: string;
  /** Name in the document. */
  source: string;
  value: Value;
  isRequired: boolean;
  description: string;
  isDeprecated: boolean;
  /** Smallest and largest number. */
  range: readonly [min: number, max: number] | undefined;
  /** Part of the request in which it is sent. */
  place?: Place;
  /** Whether it is named like a secret. */
  isSecret?: boolean;
  /** Loader of the record whose id it has. */
  link?: LoaderPlan | undefined;
  todos: string[];
}

/** Loader of the records that an endpoint reads by id. */
export interface LoaderPlan {
  /** Name, and constant. */
  name: string;
  type: TypePlan;
  /** Name of a field with the record. */
  noun: string;
  /** Endpoint that reads one record; undefined if a built-in module has the loader. */
  get: EndpointPlan | undefined;
  /** Member of a record with its id; undefined if the type has none. */
  key: string | undefined;
  /** Words of the fields that have the id, such as `workflow id`. */
  id: string;
  /** Endpoint that reads all records. */
  many: EndpointPlan | undefined;
}

/** Endpoint with the field of `Query` or `Mutation` that calls it. */
export interface EndpointPlan {
  method: string;
  route: string;
  /** Name of the field. */
  field: string;
  /** Name of the constant with the endpoint. */
  constant: string;
  description: string;
  isDeprecated: boolean;
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
  loader: LoaderPlan | undefined;
  /** Name of the record in errors. */
  resource: string;
  canConflict: boolean;
  todos: string[];
}

/** Use of a schema. */
interface Use {
  /** Words for the name of its type, if the document has none. */
  words: readonly string[];
  /** Name of the member that has it. */
  property?: string;
  use: 'input' | 'output';
  items?: string;
  depth?: number;
}

/** Maximum depth of objects that have no name in the document. Deeper ones are JSON. */
const MAX_DEPTH = 6;

/** Longest list of values that becomes an enum. */
const MAX_VALUES = 200;

/** Largest integer of GraphQL's Int. */
const MAX_INT = 2 ** 31 - 1;

const SUFFIXES = /(?:Response|Request)?(?:Dto|DTO)$/;

/** Enums of built-in modules, which are used for the same values. */
const BUILT_IN_ENUMS = { Channel: 'messages', DeletionStatus: 'notificationGroups' };

/** Types that values of the document have. */
export class Types {
  readonly #document: OpenApiDocument;
  readonly #values: Value[] = [];
  readonly #objects = { input: new Map<Part, TypePlan>(), output: new Map<Part, TypePlan>() };
  /** Objects contain others and themselves, so their fields are planned later. */
  readonly #pending: (() => void)[] = [];
  readonly #enums = new Map<string, TypePlan>();
  readonly #skip: (part: string, error: unknown) => void;

  /** @param skip receives the members that can't be written */
  constructor(document: OpenApiDocument, builtIn: GraphQLSchema, skip: (part: string, error: unknown) => void) {
    this.#document = document;
    this.#skip = skip;
    for (const [name, module] of Object.entries(BUILT_IN_ENUMS)) {
      const type = builtIn.getType(name);
      if (isEnumType(type)) {
        const values = type.getValues().map((each) => ({ name: each.name, value: String(each.value) }));
        this.#enums.set(keyOf(values), { ...newType('enum', [name], ''), name, module, values });
      }
    }
  }

  /** Plans a value. @throws {Unsupported} if its schema is in another document */
  valueOf(part: unknown, place: Use): Value {
    const { isNullable } = this.#document.schemaOf(part);
    const value = { ...this.#nonNullOf(part, place), isNullable };
    this.#values.push(value);
    return value;
  }

  #nonNullOf(part: unknown, place: Use): Value {
    const { words, property = '', depth = 0 } = place;
    const { schema, name } = this.#document.schemaOf(part);
    const { type, format } = schema;
    const properties = Object.keys(recordOf(schema.properties));
    if (hasAlternatives(schema)) {
      return json('The document allows several forms.');
    }
    const isTooDeep = depth > MAX_DEPTH && name === undefined;
    if (isTooDeep && (type === 'array' || properties.length > 0)) {
      return json('It is nested too deeply for types that have no names.');
    }
    if (type === 'array') {
      const item = this.#document.schemaOf(schema.items);
      if (item.schema.type === 'array' || item.isNullable) {
        return json('A list of lists, or of values that can be null.');
      }
      const inner = [...words.slice(0, -1), ...words.slice(-1).map(toSingular)];
      const value = this.#nonNullOf(schema.items, { ...place, words: inner, depth: depth + 1 });
      return value.type === 'JSON' ? value : { ...value, isList: true };
    }
    if (type === 'object' || (type === undefined && properties.length > 0)) {
      const isUsable =
        place.use === 'input'
          ? properties.every((each) => /^(?!__)[_A-Za-z]\w*$/.test(each) && !INHERITED.includes(each))
          : properties.some((each) => findNameProblem(each) === undefined);
      return properties.length > 0 && isUsable
        ? { ...scalar('JSON'), type: this.#objectOf(schema, name, place) }
        : scalar('JSONObject');
    }
    if (type === 'string') {
      const byFormat = format === 'date-time' ? 'DateTime' : format === 'date' ? 'LocalDate' : undefined;
      return scalar(this.#enumOf(schema, name, words) ?? byFormat ?? (isIdName(property) ? 'ID' : 'String'));
    }
    if (type === 'integer') {
      const isLarge = format === 'int64' || Number(schema.maximum) > MAX_INT;
      return isLarge ? { ...scalar('Float'), todo: 'Int, if it is always below 2^31.' } : scalar('Int');
    }
    const plain = type === 'number' ? 'Float' : type === 'boolean' ? 'Boolean' : undefined;
    return plain === undefined ? json('The document states no type.') : scalar(plain);
  }

  #objectOf(schema: Part, name: string | undefined, { words, use, items, depth = 0 }: Use): TypePlan {
    let plan = this.#objects[use].get(schema);
    if (plan === undefined) {
      const isInput = use === 'input';
      const short = name?.replace(SUFFIXES, '') ?? '';
      const names = [short.replace(/^(?:Get|List|Create|Update|Rename)(?=[A-Z])|Response$/g, ''), short].map(toWords);
      const wanted = [...(isInput ? names.slice(1) : names), words].filter((each) => each.length > 0).map(toPascal);
      const description = describe(schema, items ? 'A page of a list.' : 'A value of the service.', 'title');
      plan = isInput
        ? newType(
            'input',
            wanted.map((each) => `${each.replace(/Input$/, '')}Input`),
            description,
          )
        : newType('object', wanted, description);
      this.#objects[use].set(schema, plan);
      const planned = plan;
      this.#pending.push(() => this.#planFields(planned, schema, name === undefined ? depth : 0, items));
    }
    return plan;
  }

  /** Plans the fields of an object type or an input. */
  #planFields(plan: TypePlan, schema: Part, depth: number, items: string | undefined): void {
    const isInput = plan.kind === 'input';
    const names = new Names(INHERITED);
    const required = listOf(schema.required);
    for (const [name, part] of Object.entries(recordOf(schema.properties))) {
      try {
        const resolved: Part = { ...this.#document.schemaOf(part).schema, ...recordOf(part) };
        if ((isInput ? resolved.readOnly : resolved.writeOnly) === true) {
          continue;
        }
        assertName(name);
        const words = [...toWords(plan.wanted[0] ?? ''), ...toWords(name)];
        const use = isInput ? 'input' : 'output';
        const value = this.valueOf(part, { words, property: name, use, depth: depth + 1 });
        const isItems = items !== undefined && name === 'data';
        const described = isText(value.type) ? resolved : recordOf(part);
        const wanted = isInput ? name : isItems ? items : undefined; // Inputs within others are sent as they are.
        plan.fields.push(fieldOf(names, name, described, value, isItems || required.includes(name), wanted));
      } catch (error) {
        this.#skip(`${plan.wanted[0]}.${name}`, error);
      }
    }
    if (required.length === 0 && !isInput) {
      plan.todos.push('The document does not state which fields are always sent: remove nullable from these.');
    }
  }

  /** Returns the enum of a text with certain values; undefined if they can't be names. Equal lists of values are one enum. */
  #enumOf(schema: Part, name: string | undefined, words: readonly string[]): TypePlan | undefined {
    const values = listOf(schema.enum)
      .filter(isText)
      .map((value) => ({ name: toUpper(toWords(value)), value }));
    const isUsable = values.every((each) => /^(?!TRUE$|FALSE$|NULL$)./.test(each.name) && each.value.length <= 64);
    const isUnique = new Set(values.map((each) => each.name)).size === values.length;
    if (values.length === 0 || values.length > MAX_VALUES || !isUsable || !isUnique) {
      return undefined;
    }
    const key = keyOf(values);
    let plan = this.#enums.get(key);
    if (plan === undefined) {
      const wanted = [toWords(name?.replace(SUFFIXES, '') ?? ''), words]
        .filter((each) => each.length > 0)
        .map(toPascal);
      plan = { ...newType('enum', wanted, describe(schema, 'A value of the service.', 'title')), values };
      this.#enums.set(key, plan);
    }
    return plan;
  }

  /** Plans the fields of all types, and makes those that have the same fields one type. */
  complete(): void {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      next();
    }
    const plans = [...this.#objects.output.values(), ...this.#objects.input.values()];
    let classes = new Map<TypePlan, number>();
    for (let before = 0, count = 1; count > before; ) {
      const known = new Map<string, number>();
      const formOf = ({ name, source, value, isRequired }: FieldPlan) =>
        `${name} ${source} ${isText(value.type) ? value.type : (classes.get(value.type) ?? value.type.values.map((each) => each.value))} ${value.isList} ${value.isNullable} ${isRequired}`;
      const next = new Map<TypePlan, number>();
      for (const plan of plans) {
        const form = JSON.stringify([plan.kind, classes.get(plan), plan.fields.map(formOf).toSorted()]);
        known.set(form, known.get(form) ?? known.size);
        next.set(plan, known.get(form) ?? 0);
      }
      [classes, before, count] = [next, count, known.size];
    }
    const first = new Map<number | undefined, TypePlan>();
    for (const plan of plans.toSorted((a, b) => Number(b.module !== undefined) - Number(a.module !== undefined))) {
      const same = first.get(classes.get(plan)) ?? plan;
      first.set(classes.get(plan), same);
      if (same !== plan) {
        same.wanted = [...same.wanted, ...plan.wanted].toSorted((a, b) => a.length - b.length);
      }
    }
    const acyclic = new Set<TypePlan>();
    const cutCircles = (plan: TypePlan, above: readonly TypePlan[]): void => {
      for (const field of acyclic.has(plan) ? [] : plan.fields) {
        const { type } = field.value;
        if (!isText(type) && type.kind === 'input') {
          if (above.includes(type)) {
            field.value = json('An object that contains itself.');
            field.todos.push('An object that contains itself.');
          } else {
            cutCircles(type, [...above, type]);
          }
        }
      }
      acyclic.add(plan);
    };
    for (const value of this.#values.filter(({ type }) => !isText(type) && type.kind !== 'enum')) {
      value.type = isText(value.type) ? value.type : (first.get(classes.get(value.type)) ?? value.type);
    }
    for (const plan of this.#objects.input.values()) {
      cutCircles(plan, [plan]);
    }
  }
}

const newType = (kind: TypePlan['kind'], wanted: string[], description: string): TypePlan => ({
  kind,
  name: '',
  wanted,
  description,
  fields: [],
  values: [],
  noun: '',
  isRecord: false,
  todos: [],
});

const keyOf = (values: TypePlan['values']): string => JSON.stringify(values.map(({ value }) => value).toSorted());

/** A value that is always there. */
export const scalar = (type: Value['type']): Value => ({ type, isList: false, isNullable: false });

/** A value of any form. */
export const json = (todo: string): Value => ({ ...scalar('JSON'), todo });

/** Whether a value can have one of several forms. */
export const hasAlternatives = ({ oneOf, anyOf }: Part): boolean => listOf(oneOf).length + listOf(anyOf).length > 1;

const isIdName = (name: string): boolean => /^ids?$/.test(toWords(name).at(-1) ?? '');

/** @throws {Unsupported} if a property can't be written */
export function assertName(name: string): void {
  const problem = findNameProblem(name);
  if (problem !== undefined) {
    throw new Unsupported(problem);
  }
}

/** Returns the field of a property or parameter. */
export function fieldOf(
  ...[names, name, part, value, isRequired, wanted = toCamel(toWords(name))]: [
    Names,
    string,
    Part,
    Value,
    boolean,
    string?,
  ]
): FieldPlan {
  const taken = names.take([wanted]);
  const [min, max] = [part.minimum, part.maximum].map((bound) => (typeof bound === 'number' ? bound : undefined));
  const isNumber = (value.type === 'Int' || value.type === 'Float') && !value.isList;
  const hasRange = isNumber && (min !== undefined || max !== undefined);
  return {
    name: taken,
    source: name,
    value,
    isRequired,
    description: describe(part, `The service's \`${name}\`.`),
    isDeprecated: part.deprecated === true,
    range: hasRange ? [min ?? Number.MIN_SAFE_INTEGER, max ?? Number.MAX_SAFE_INTEGER] : undefined,
    todos: [taken === wanted ? undefined : `Find a better name: ${wanted} exists.`, value.todo].filter(isText),
  };
}

export const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns the description of a part, or of its other member. */
export function describe(part: Part, fallback: string, other = 'description'): string {
  const text = [part.description, part[other]].find((each) => typeof each === 'string' && each.trim() !== '');
  return typeof text === 'string' ? text.trim().toWellFormed() : fallback;
}

/** Whether a field of a response is named like a secret. */
export const isSecretField = ({ source, value: { type } }: FieldPlan): boolean =>
  type !== 'Boolean' && (isText(type) || type.kind !== 'enum') && isSecret(source);
