import { type GraphQLSchema, isEnumType } from 'graphql';
import { listOf, type OpenApiDocument, type Part, recordOf, Unsupported } from './document.ts';
import { findNameProblem, INHERITED, Names, toCamel, toPascal, toSingular, toUpper, toWords } from './names.ts';

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

/** Field of a type, or an argument. */
export interface FieldPlan {
  name: string;
  /** Name in the document. */
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
  /** Name, and constant. */
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
  loader?: LoaderPlan;
  /** Name of the record in errors. */
  resource: string;
  canConflict: boolean;
  todos: (string | undefined)[];
}

/** Use of a schema. */
export interface Use {
  use: 'input' | 'output';
  /** Words for the name of its type, if the document has none. */
  words: readonly string[];
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

  constructor(document: OpenApiDocument, builtIn: GraphQLSchema) {
    this.#document = document;
    for (const [name, module] of Object.entries(BUILT_IN_ENUMS)) {
      const type = builtIn.getType(name);
      const values = isEnumType(type) ? type.getValues() : [];
      const plan = this.#enumOf(
        values.map(({ value }) => value),
        [name],
        '',
      );
      Object.assign(plan ?? {}, { name, module });
    }
  }

  /** Plans a value. @throws {Unsupported} if its schema is in another document */
  valueOf(part: unknown, use: Use): Value {
    const { isNullable } = this.#document.schemaOf(part);
    const value = { ...this.#nonNullOf(part, use), isNullable };
    this.#values.push(value);
    return value;
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
            : properties.some((each) => findNameProblem(each) === undefined);
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
      case 'number':
        return scalar('Float');
      case 'boolean':
        return scalar('Boolean');
      default:
        return json('The document states no type.');
    }
  }

  #objectOf(schema: Part, name: string | undefined, at: Use): TypePlan {
    const known = this.#objects[at.use].get(schema);
    if (known !== undefined) {
      return known;
    }
    const isInput = at.use === 'input';
    const short = name?.replace(SUFFIXES, '') ?? '';
    const record = short.replace(/^(?:Get|List|Create|Update|Rename)(?=[A-Z])|Response$/g, '');
    const names = [...(isInput ? [] : [toWords(record)]), toWords(short), at.words].filter((each) => each.length > 0);
    const wanted = names.map(toPascal).map((each) => (isInput ? `${each.replace(/Input$/, '')}Input` : each));
    const description = describe(schema, at.items ? 'A page of a list.' : 'A value of the service.');
    const plan = newType(isInput ? 'input' : 'object', wanted, description);
    const [first = 'Record'] = wanted;
    this.#objects[at.use].set(schema, plan);
    this.#pending.push(() => {
      const depth = name === undefined ? (at.depth ?? 0) : 0;
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
   * @param body names of the inputs that are beside those of a body
   * @throws {Unsupported} if a body requires a member that can't be written
   */
  fieldsOf(schema: Part, at: Use, part: string, body?: Names): FieldPlan[] {
    const names = body ?? new Names(INHERITED);
    const hidden = at.use === 'input' ? 'readOnly' : 'writeOnly';
    return Object.entries(recordOf(schema.properties)).flatMap(([name, member]) => {
      const isRequired = listOf(schema.required).includes(name);
      const planned = this.#document.try(`${part}.${name}`, body !== undefined && isRequired, () => {
        const resolved: Part = { ...this.#document.schemaOf(member).schema, ...recordOf(member) };
        const isItems = at.items !== undefined && name === 'data';
        const isSentAsIs = at.use === 'input' && body === undefined;
        const wanted = isItems ? at.items : isSentAsIs ? name : undefined;
        return resolved[hidden] === true
          ? []
          : [this.fieldOf(names, name, member, { ...at, items: undefined }, isItems || isRequired, wanted)];
      });
      return planned.flat();
    });
  }

  /** Plans a property or a parameter of a query. @throws {Unsupported} if it can't be written */
  fieldOf(
    ...[names, source, part, at, isRequired, wanted = toCamel(toWords(source))]: [
      Names,
      string,
      unknown,
      Use,
      boolean,
      string?,
    ]
  ): FieldPlan {
    assertName(source);
    const words = [...at.words, ...toWords(source)];
    const value = this.valueOf(part, { ...at, words, property: source, depth: (at.depth ?? 0) + 1 });
    const inherited = isText(value.type) ? this.#document.schemaOf(part).schema : {};
    const resolved: Part = { ...inherited, ...recordOf(part) };
    const name = names.take([wanted]);
    value.todo ??= name === wanted ? undefined : `Find a better name: ${wanted} exists.`;
    return {
      ...newField(name, value, describe(resolved, `The service's \`${source}\`.`)),
      source,
      isRequired,
      isDeprecated: resolved.deprecated === true,
      range: rangeOf(resolved, value),
    };
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

  /** Plans the fields of all types, and makes those that have the same fields one type. */
  complete(): void {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      next();
    }
    const plans = [...this.#objects.output.values(), ...this.#objects.input.values(), ...this.#enums.values()];
    const classes = classify(plans);
    const first = new Map<unknown, TypePlan>();
    for (const plan of plans.toSorted((a, b) => Number(b.module !== undefined) - Number(a.module !== undefined))) {
      const same = first.get(classes.get(plan)) ?? plan;
      first.set(classes.get(plan), same);
      if (same !== plan) {
        same.wanted = [...same.wanted, ...plan.wanted].toSorted((a, b) => a.length - b.length);
      }
    }
    for (const value of this.#values) {
      value.type = first.get(classes.get(value.type)) ?? value.type;
    }
  }
}

/** Returns the same number for types that have the same fields, also if they contain themselves. It tells apart more of them with each turn. */
function classify(plans: readonly TypePlan[]): Map<unknown, number> {
  let classes = new Map<unknown, number>();
  for (let before = -1, count = 0; count > before; ) {
    const known = new Map<string, number>();
    const formOf = ({ name, source, value: { type, isList, isNullable }, isRequired }: FieldPlan) =>
      JSON.stringify([name, source, classes.get(type) ?? (isText(type) && type), isList, isNullable, isRequired]);
    const next = plans.map((plan): [TypePlan, number] => {
      const form = JSON.stringify([plan.kind, classes.get(plan), plan.values, plan.fields.map(formOf).toSorted()]);
      const number = known.get(form) ?? known.size;
      known.set(form, number);
      return [plan, number];
    });
    [classes, before, count] = [new Map(next), count, known.size];
  }
  return classes;
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

/** Returns a field that is always there. */
export const newField = (name: string, value: Value, description: string): FieldPlan => ({
  name,
  source: name,
  value,
  isRequired: true,
  description,
});

/** A value that is always there. */
export const scalar = (type: Value['type']): Value => ({ type, isList: false, isNullable: false });

/** A value of any form. */
export const json = (todo: string): Value => ({ ...scalar('JSON'), todo });

export const isText = (value: unknown): value is string => typeof value === 'string';

/** @throws {Unsupported} if a property or parameter can't be written */
export function assertName(name: string): void {
  const problem = findNameProblem(name);
  if (problem !== undefined) {
    throw new Unsupported(problem);
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
