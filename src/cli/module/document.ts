import { parse } from 'yaml';
import { errorCodeOf } from '../../lib/error-code.ts';
import { FileError, readTextFile } from '../../lib/files/text-file.ts';
import { isRecord } from '../../lib/is-record.ts';
import { ConfigError } from '../config/problem.ts';

/** Object of the document. Its members can have any form, and are checked where they are read. */
export type Part = Readonly<Record<string, unknown>>;

/** Reason why a part of the document can't be written: a clause. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported';
}

/** Schema without references, `allOf` and null. */
export interface ResolvedSchema {
  /** The same object each time, so that it identifies a type. */
  readonly schema: Part;
  readonly isNullable: boolean;
  /** Name in the document; undefined for a schema within another. */
  readonly name: string | undefined;
}

/** One method of a path. */
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

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

/** OpenAPI document, version 3. */
export class OpenApiDocument {
  readonly #root: Part;
  /** Each schema is resolved once: compositions of compositions would take exponential time. */
  readonly #schemas = new Map<Part, ResolvedSchema | null>();

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

  /** @throws {Unsupported} if a reference leads nowhere, or out of the document */
  schemaOf(sent: unknown, steps = 0): ResolvedSchema {
    const { part, name } = this.#follow(sent);
    const stored = this.#schemas.get(part);
    if (stored === null || steps > MAX_STEPS) {
      throw new Unsupported('its schema refers to itself');
    }
    if (stored !== undefined) {
      return stored;
    }
    this.#schemas.set(part, null); // Until it is resolved.
    try {
      const { schema, isNullable, name: innerName } = this.#withoutComposition(part, steps);
      const types = listOf(schema.type);
      const others = types.filter((type) => type !== 'null');
      const hasNull = others.length < types.length || schema.nullable === true || listOf(schema.enum).includes(null);
      const resolved = {
        schema: types.length > 0 ? { ...schema, type: others.length === 1 ? others[0] : undefined } : schema,
        isNullable: isNullable || hasNull,
        name: name ?? innerName,
      };
      this.#schemas.set(part, resolved);
      return resolved;
    } catch (error) {
      this.#schemas.delete(part);
      throw error;
    }
  }

  /** Merges `allOf`, and removes null from alternatives. */
  #withoutComposition(part: Part, steps: number): ResolvedSchema {
    const isNullable = part.nullable === true;
    const alternatives = [...listOf(part.oneOf), ...listOf(part.anyOf)];
    const others = alternatives.filter((alternative) => !isRecord(alternative) || alternative.type !== 'null');
    const [only] = others;
    if (others.length === 1 && !isRecord(part.properties)) {
      const inner = this.schemaOf(only, steps + 1);
      return { ...inner, isNullable: isNullable || inner.isNullable || alternatives.length > 1 };
    }
    const all = listOf(part.allOf).map((each) => this.schemaOf(each, steps + 1));
    const [first] = all;
    if (first === undefined) {
      return { schema: part, isNullable: isNullable || others.length < alternatives.length, name: undefined };
    }
    if (all.length === 1 && !isRecord(part.properties) && !Array.isArray(part.required)) {
      return { ...first, isNullable: isNullable || first.isNullable };
    }
    const { allOf: _, ...own } = part;
    const parts = [...all.map(({ schema }) => schema), own];
    const schema = {
      ...Object.assign({}, ...parts),
      properties: Object.fromEntries(parts.flatMap(({ properties }) => Object.entries(recordOf(properties)))),
      required: [...new Set(parts.flatMap(({ required }) => listOf(required)))],
      nullable: false,
    };
    return { schema, isNullable, name: undefined };
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
      throw new Unsupported(
        part === undefined ? 'it refers to a part that does not exist' : 'a part of it is not an object',
      );
    }
    return { part, name };
  }
}

/** Returns the members of an object; none of any other value. */
export const recordOf = (value: unknown): Part => (isRecord(value) ? value : {});

/** Returns the items of a list; none of any other value. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : Array.isArray(value) ? value[Number(name)] : undefined;

/** Decodes a name in a reference. */
const decodePointer = (name: string): string =>
  name
    .replace(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');

/** Returns the path of the first server, without a slash at its end. */
function pathOf(servers: unknown): string {
  const [server] = listOf(servers);
  const { url, variables } = recordOf(server);
  const filled = String(url ?? '').replace(/\{([^{}]*)\}/g, (_, name: string) =>
    String(recordOf(recordOf(variables)[name]).default ?? ''),
  );
  return URL.canParse(filled, 'http://service.test')
    ? new URL(filled, 'http://service.test').pathname.replace(/\/+$/, '')
    : '';
}

/** @throws {ConfigError} if the file is no OpenAPI document of version 3 */
function readDocument(file: string, name: string): Part {
  const root = parseDocument(file, name);
  if (isRecord(root) && String(root.openapi).startsWith('3.')) {
    return root;
  }
  const { openapi, swagger } = recordOf(root);
  throw new ConfigError([
    swagger !== undefined
      ? `${name} is a Swagger 2 document. Convert it to OpenAPI 3 first.`
      : openapi === undefined
        ? `${name} is not an OpenAPI document: it has no member "openapi".`
        : `${name} has a version of OpenAPI that is not supported. Use 3.0 or 3.1.`,
  ]);
}

function parseDocument(file: string, name: string): unknown {
  try {
    const text = readTextFile(file, MAX_BYTES);
    try {
      return JSON.parse(text);
    } catch {
      return parse(text, { logLevel: 'silent', merge: true, uniqueKeys: false });
    }
  } catch (error) {
    if (error instanceof FileError) {
      throw new ConfigError([`${name} ${error.message}.`]);
    }
    const [, line] = /\bat line (\d+)/.exec(String(error)) ?? [];
    const reason = errorCodeOf(error) ?? 'it is nested too deeply, or has no end';
    throw new ConfigError([`${name} is neither JSON nor YAML: ${line === undefined ? reason : `line ${line}`}.`]);
  }
}
