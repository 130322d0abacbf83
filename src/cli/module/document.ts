// Reads an OpenAPI document, and follows its references.

import querystring from 'node:querystring';
import { parse } from 'yaml';
import { isRecord, listOf, recordOf } from '../../lib/is-record.ts';
import { ConfigError, readNamedFile } from '../config/problem.ts';

/** Object of the document. Its members can have any form, and are checked where they are read. */
export type Part = Readonly<Record<string, unknown>>;

/** Reason why a part of the document can't be written: a clause. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported';
}

/** Schema without references, compositions and null. */
interface ResolvedSchema {
  /** The same object each time, so that it identifies a type. */
  readonly schema: Part;
  readonly isNullable: boolean;
  /** Whether a value can have one of several forms. */
  readonly hasAlternatives: boolean;
  /** Name in the document; undefined for a schema within another. */
  readonly name: string | undefined;
}

export interface Operation {
  readonly method: string;
  /** Path with that of the server, such as `/v1/topics/{topicKey}`. */
  readonly route: string;
  readonly operation: Part;
  /** Parameters of the path and then of the method. */
  readonly parameters: readonly unknown[];
}

/** Maximum size of a document. The largest public ones have 14 MB. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Maximum references and compositions around one schema. */
const MAX_STEPS = 50;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export class OpenApiDocument {
  readonly #root: Part;
  /** Each schema is resolved once: compositions of compositions would take exponential time. */
  readonly #schemas = new Map<Part, ResolvedSchema>();
  readonly #resolving = new Set<Part>();
  readonly skipped: { part: string; reason: string }[] = [];

  /** @throws {ConfigError} if the file is no OpenAPI document of version 3 */
  constructor(file: string, name: string) {
    this.#root = readDocument(file, name);
  }

  /** Returns the paths with the path of the server, which the service's address doesn't contain. */
  get paths(): Map<string, unknown> {
    const prefix = pathOf(this.#root.servers);
    return new Map(Object.entries(recordOf(this.#root.paths)).map(([path, item]) => [prefix + path, item]));
  }

  /** Returns the operations of a path. @throws {Unsupported} if the path is in another document */
  operationsOf(route: string, item: unknown): Operation[] {
    const path = this.resolve(item);
    return METHODS.filter((method) => isRecord(path[method])).map((method) => {
      const operation = recordOf(path[method]);
      const parameters = [...listOf(path.parameters), ...listOf(operation.parameters)];
      return { method: method.toUpperCase(), route, operation, parameters };
    });
  }

  /** Returns parameters without references. Of two with the same name and place, the last one counts. @throws {Unsupported} if one is in another document */
  parametersOf({ parameters }: Operation): Part[] {
    const all = parameters.map((parameter) => this.resolve(parameter));
    return [...new Map(all.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values()];
  }

  /** Follows references to other parts. @throws {Unsupported} if one leads nowhere, or out of the document */
  resolve(part: unknown): Part {
    return this.#follow(part).part;
  }

  /**
   * Plans a part of what is written, and returns the plan in a list. A part that can't be written is skipped.
   *
   * @throws {Unsupported} if it is required
   */
  try<Plan>(part: string, isRequired: boolean, plan: () => Plan): Plan[] {
    try {
      return [plan()];
    } catch (error) {
      if (!(error instanceof Unsupported)) {
        throw error;
      }
      if (isRequired) {
        throw new Unsupported(`it requires ${part.replace(/.*, /s, '')}, but ${error.message}`);
      }
      this.skipped.push({ part, reason: error.message });
      return [];
    }
  }

  /** @throws {Unsupported} if a reference leads nowhere, or out of the document */
  schemaOf(sent: unknown): ResolvedSchema {
    const { part, name } = this.#follow(sent);
    let resolved = this.#schemas.get(part);
    if (resolved === undefined) {
      if (this.#resolving.has(part) || this.#resolving.size > MAX_STEPS) {
        throw new Unsupported('its schema refers to itself');
      }
      this.#resolving.add(part);
      try {
        resolved = this.#compose(part, name);
      } finally {
        this.#resolving.delete(part);
      }
      this.#schemas.set(part, resolved);
    }
    return resolved;
  }

  /** Merges `allOf`, and the only alternative to null. */
  #compose({ allOf, oneOf, anyOf, ...own }: Part, name: string | undefined): ResolvedSchema {
    const alternatives = [...listOf(oneOf), ...listOf(anyOf)];
    const others = alternatives.filter((each) => recordOf(each).type !== 'null');
    const inner = [...listOf(allOf), ...(others.length === 1 ? others : [])].map((each) => this.schemaOf(each));
    const [first] = inner;
    const isAlone = inner.length === 1 && own.properties === undefined && own.required === undefined;
    const types = listOf(own.type).filter((type) => type !== 'null');
    const parts = [...inner.map(({ schema }) => schema), own];
    const merged = {
      ...Object.assign({}, ...parts),
      ...(Array.isArray(own.type) ? { type: types.length === 1 ? types[0] : undefined } : {}),
      properties: Object.fromEntries(parts.flatMap(({ properties }) => Object.entries(recordOf(properties)))),
      required: [...new Set(parts.flatMap(({ required }) => listOf(required)))],
    };
    return {
      schema: isAlone && first !== undefined ? first.schema : merged,
      isNullable:
        own.nullable === true ||
        others.length < alternatives.length ||
        listOf(own.type).includes('null') ||
        listOf(own.enum).includes(null) ||
        (inner.length === 1 && first?.isNullable === true),
      hasAlternatives: others.length > 1 || inner.some((each) => each.hasAlternatives),
      name: name ?? (isAlone ? first?.name : undefined),
    };
  }

  #follow(sent: unknown): { part: Part; name: string | undefined } {
    let part: unknown = sent === true || sent === undefined ? {} : sent;
    let name: string | undefined;
    for (let steps = 0; isRecord(part) && typeof part.$ref === 'string'; steps += 1) {
      if (!part.$ref.startsWith('#/')) {
        throw new Unsupported('it refers to another document');
      }
      if (steps > MAX_STEPS) {
        throw new Unsupported('it refers to itself');
      }
      const names = part.$ref.slice('#/'.length).split('/').map(decodePointer);
      part = names.reduce<unknown>(memberOf, this.#root);
      name = names[1] === 'schemas' && names.length === 3 ? names[2] : undefined;
    }
    if (!isRecord(part)) {
      throw new Unsupported('a part of it does not exist, or is not an object');
    }
    return { part, name };
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : Array.isArray(value) ? value[Number(name)] : undefined;

const decodePointer = (name: string): string => querystring.unescape(name).replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns the path of the first server, without a slash at its end. */
function pathOf(servers: unknown): string {
  const [server] = listOf(servers);
  const { url, variables } = recordOf(server);
  const filled = String(url ?? '').replace(/\{([^{}]*)\}/g, (_, name: string) =>
    String(recordOf(recordOf(variables)[name]).default ?? ''),
  );
  return URL.parse(filled, 'http://service.test')?.pathname.replace(/\/+$/, '') ?? '';
}

/** @throws {ConfigError} if the file is no OpenAPI document of version 3 */
function readDocument(file: string, name: string): Part {
  const root = recordOf(parseDocument(file, name));
  if (!String(root.openapi).startsWith('3.')) {
    throw new ConfigError([
      root.swagger === undefined
        ? `${name} is not an OpenAPI document of version 3: its member "openapi" doesn't say so.`
        : `${name} is a Swagger 2 document. Convert it to OpenAPI 3 first.`,
    ]);
  }
  return root;
}

/** Names in a document are texts, whatever they look like: `null` and `1e3` can be properties. */
const YAML = { logLevel: 'silent', merge: true, stringKeys: true, uniqueKeys: false } as const;

function parseDocument(file: string, name: string): unknown {
  const text = readNamedFile(file, MAX_BYTES, name);
  try {
    // The parser of YAML takes seconds for large documents in JSON. Its aliases can contain themselves, which JSON can't.
    const isJson = text.trimStart().startsWith('{');
    return JSON.parse(isJson ? text : JSON.stringify(parse(text, YAML)));
  } catch (error) {
    const [, line] = /\bline (\d+)/.exec(String(error)) ?? [];
    const reason = line === undefined ? 'it has a mistake, is nested too deeply, or has no end' : `see line ${line}`;
    throw new ConfigError([`${name} is neither JSON nor YAML that can be read: ${reason}.`]);
  }
}
