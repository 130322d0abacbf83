// Plans the types of a module: each schema is a scalar, or an object or enum that is declared once.

import { arrayOf, recordOf } from '../../../../src/lib/is-record.ts';
import { type DescribedOperation, type DocumentPart, type OpenApiDocument, Unsupported } from './document.ts';
import { camelOf, INHERITED, isName, Names, toPascal, toSingular, toUpper, toWords } from './names.ts';

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
  /** Names in the document, best first. The last is its identity. Types without one are the same only within their noun, if they have the same form. */
  titles: string[];
  /** Words of a name that fits: those of the noun, if it is a record that an operation reads by id. */
  words: readonly string[];
  isRecord?: boolean;
  /** First words of the scopes of its noun; a short reference, if it can belong to several nouns. */
  noun: string;
  description: string;
  fields: MemberPlan[];
  values: { name: string; value: string }[];
  /** Built-in module that exports it as `name`. */
  module?: string;
  /** Decision to take: a sentence. */
  todo?: string;
}

export interface MemberPlan {
  name: string;
  source: string;
  value: Value;
  isRequired: boolean;
  description: string;
  isDeprecated?: boolean;
  /** Part of the request in which it is sent. */
  place?: 'path' | 'query' | 'headers' | 'body';
  /** Scope that it requires, because it is named like a secret. */
  secretScope?: string | undefined;
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
export interface EndpointPlan extends DescribedOperation {
  field: string;
  /** First words of the scope. */
  noun: string;
  inputs: MemberPlan[];
  /** Whether one input is the whole body, because the document leaves its members open. */
  hasWholeBody?: boolean;
  /** Options of `endpoint`. */
  options: Record<string, unknown>;
  /** Value of the response; undefined if there is none. */
  response: Value | undefined;
  /** Loader that the field reads with, one record or all. */
  loader?: LoaderPlan;
  /** Decision to take: a sentence. */
  todo: string | undefined;
}

export interface Use {
  use: 'input' | 'output';
  /** Words for the name of its type, if the document has none. */
  words: readonly string[];
  /** That of its type, unless the type has a reference. */
  noun: string;
  /** Name of the field with the records, if it is a page. */
  items?: string | undefined;
}

/** Largest integer of GraphQL's Int. */
const MAX_INT = 2 ** 31 - 1;

export class Types {
  readonly #document: OpenApiDocument;
  /** Types by their identities. */
  readonly #known = new Map<string, TypePlan>();
  /** Objects contain others and themselves, so their fields are planned later. */
  readonly #pending: (() => void)[] = [];
  /** Inputs around the one that is being planned, which can't contain them: their fields could not all be required. */
  readonly #above = new Set<TypePlan>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  /** Plans a value. @throws {Unsupported} if its schema is in another document */
  valueOf(part: unknown, use: Use): Value {
    return { ...this.#nonNullOf(part, use), isNullable: this.#document.schemaOf(part).isNullable };
  }

  #nonNullOf(part: unknown, use: Use): Value {
    const { schema, name, hasAlternatives } = this.#document.schemaOf(part);
    const properties = Object.keys(recordOf(schema.properties));
    const type = schema.type ?? (properties.length > 0 ? 'object' : undefined);
    if (hasAlternatives) {
      return json('The document allows several forms.');
    }
    if (type === 'array') {
      const singular = [...use.words.slice(0, -1), ...use.words.slice(-1).map(toSingular)];
      const item = this.valueOf(schema.items, { ...use, words: singular });
      return item.isList || item.isNullable
        ? json('A list of lists, or of values that can be null.')
        : { ...item, isList: item.type !== 'JSON' };
    }
    if (type === 'object') {
      const isInputName = (each: string) => /^(?!__)[_A-Za-z]\w*$/.test(each) && !INHERITED.includes(each);
      const isUsable = use.use === 'input' ? properties.every(isInputName) : properties.some(isName);
      return properties.length > 0 && isUsable ? this.#objectOf(schema, name, use) : scalar('JSONObject');
    }
    if (type === 'string') {
      const byFormat = { 'date-time': 'DateTime', date: 'LocalDate' }[String(schema.format)];
      const byName = /^ids?$/.test(use.words.at(-1) ?? '') ? 'ID' : 'String';
      return scalar(this.#enumOf(schema, name, use) ?? byFormat ?? byName);
    }
    const isLarge = type === 'integer' && (schema.format === 'int64' || Number(schema.maximum) > MAX_INT);
    const plain = { number: 'Float', boolean: 'Boolean', integer: isLarge ? 'Float' : 'Int' }[String(type)];
    const todo = isLarge ? 'Int, if it is always below 2^31.' : undefined;
    return plain === undefined ? json('The document states no type.') : { ...scalar(plain), todo };
  }

  #objectOf(schema: DocumentPart, name: string | undefined, at: Use): Value {
    const kind = at.use === 'input' ? 'input' : 'object';
    const reference = at.items === undefined ? name : undefined; // The name of the items is that of the noun.
    const { plan, isKnown } = this.#identify(kind, schema, reference, [formOf(schema), at.items], at);
    const fill = () => {
      const [first = ''] = namesOf(plan);
      const use = { ...at, noun: plan.noun, words: toWords(first.replace(/Input$/, '')) };
      plan.fields = this.fieldsOf(schema, use, first);
    };
    if (!isKnown && kind === 'object') {
      if (arrayOf(schema.required).length === 0) {
        plan.todo = 'The document does not state which fields are always sent: remove nullable from these.';
      }
      this.#pending.push(fill);
    } else if (!isKnown) {
      this.#above.add(plan);
      fill();
      this.#above.delete(plan);
    }
    return this.#above.has(plan) ? json('An object that contains itself.') : scalar(plan);
  }

  /** Returns the enum of certain texts; undefined if they can't be names. */
  #enumOf(schema: DocumentPart, reference: string | undefined, at: Use): TypePlan | undefined {
    const texts = arrayOf(schema.enum).filter(isText);
    const values = texts.map((value) => ({ name: toUpper(toWords(value)), value }));
    const isUsable = values.every((each) => /^(?!TRUE$|FALSE$|NULL$)./.test(each.name));
    if (values.length === 0 || !isUsable || new Set(values.map((each) => each.name)).size < values.length) {
      return undefined;
    }
    const { plan } = this.#identify('enum', schema, reference, texts.toSorted(), at);
    return Object.assign(plan, { values });
  }

  /** Returns the type with an identity. A copy of a type, in place of its reference, is that type within its noun. */
  #identify(kind: TypePlan['kind'], schema: DocumentPart, reference: string | undefined, form: unknown, at: Use) {
    const byForm = JSON.stringify([kind, at.noun, form], (key, value) => (isComment(key, value) ? undefined : value));
    const identity = reference === undefined ? byForm : JSON.stringify([kind, reference]);
    const alike = this.#known.get(byForm);
    const known = this.#known.get(identity) ?? (alike?.titles.length === 0 ? alike : undefined);
    const titles = reference === undefined ? [] : [this.#document.shortNameOf(reference), reference];
    const noun = titles[0] ?? at.noun;
    const description = describe(schema, at.items ? 'A page of a list.' : 'A value of the service.');
    const own = { kind, name: '', titles, words: at.words, noun, description, fields: [], values: [] };
    const plan: TypePlan = known ?? own;
    plan.titles = plan.titles.length === 0 ? titles : plan.titles;
    this.#known.set(identity, plan).set(byForm, alike ?? plan);
    return { plan, isKnown: known !== undefined };
  }

  /**
   * Plans the members of an object.
   *
   * @param args names of the arguments, if they are some; other inputs are sent as they are
   * @throws {Unsupported} if an argument that is required can't be written
   */
  fieldsOf(schema: DocumentPart, use: Use, part: string, args?: Names): MemberPlan[] {
    const isInput = use.use === 'input';
    const names = args ?? new Names(INHERITED);
    const planned = Object.entries(recordOf(schema.properties)).map(([source, member]) => {
      const isRequired = arrayOf(schema.required).includes(source);
      return this.#document.try(`${part}.${source}`, args !== undefined && isRequired, (): MemberPlan[] => {
        const inner = this.#document.schemaOf(member).schema;
        const { readOnly, writeOnly }: DocumentPart = { ...inner, ...recordOf(member) };
        if ((isInput ? readOnly : writeOnly) === true) {
          return [];
        }
        assertName(source);
        const isItems = use.items !== undefined && source === 'data';
        const words = [...use.words, ...toWords(source)];
        const value = this.valueOf(member, { ...use, words, items: undefined });
        const resolved: DocumentPart = { ...(isText(value.type) ? inner : {}), ...recordOf(member) };
        const wanted = isItems ? use.items : isInput && args === undefined ? source : undefined;
        const states = { isRequired: isItems || isRequired, isDeprecated: resolved.deprecated === true };
        return [{ ...newField(names, source, value, resolved, wanted), ...states }];
      });
    });
    return planned.flat(2);
  }

  complete(): void {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      next();
    }
  }
}

/** Returns the names that fit a type, best first. */
export function namesOf({ kind, titles, words, isRecord }: TypePlan): string[] {
  const named = titles.map(toWords);
  const names = (isRecord ? [words, ...named] : [...named, words]).filter((each) => each.length > 0).map(toPascal);
  return kind === 'input' ? names.map((name) => `${name.replace(/Input$/, '')}Input`) : names;
}

/** Returns what is the same for copies of an object, which are one type. */
const formOf = ({ properties, required }: DocumentPart): unknown =>
  Object.entries(recordOf(properties))
    .map(([name, part]) => [name, part, arrayOf(required).includes(name)])
    .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));

/** Whether a member of a schema says nothing about its type. Properties with these names are objects. */
const isComment = (key: string, value: unknown): boolean =>
  /^(?:description|title|summary|examples?)$/.test(key) && (isText(value) || Array.isArray(value));

export function newField(
  names: Names,
  source: string,
  value: Value,
  part: DocumentPart = {},
  wanted = camelOf(source),
) {
  const name = names.take(wanted);
  value.todo ??= name === wanted ? undefined : `Find a better name: ${wanted} exists.`;
  return { name, source, value, isRequired: true, description: describe(part, `The service's \`${source}\`.`) };
}

export const scalar = (type: Value['type']): Value => ({ type, isList: false, isNullable: false });

export const json = (todo: string): Value => ({ ...scalar('JSON'), todo });

export const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns the object type of a value, or of the items of a list. */
export const objectOf = (value: Value | undefined): TypePlan | undefined =>
  value === undefined || isText(value.type) || value.type.kind !== 'object' ? undefined : value.type;

/** @throws {Unsupported} if a property or parameter can't be written */
export function assertName(name: string): void {
  if (!isName(name)) {
    throw new Unsupported('its name is too long, has no letters, or is that of a member of every object');
  }
}

/** Returns the first text that describes a part. */
export const describe = ({ description, summary, title }: DocumentPart, fallback: string): string =>
  [description, summary, title].map((text) => (isText(text) ? text.trim().toWellFormed() : '')).find(Boolean) ??
  fallback;
