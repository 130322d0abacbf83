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
  readonly #schemas = new Map<Part, ResolvedSchema | Unsupported>();

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
  schemaOf(part: unknown): ResolvedSchema {
    return this.#schemaOf(part, 0);
  }

  #schemaOf(sent: unknown, steps: number): ResolvedSchema {
    if (steps > MAX_STEPS) {
      throw new Unsupported('its schema is nested too deeply');
    }
    const { part, name } = this.#follow(sent);
    let stored = this.#schemas.get(part);
    if (stored === undefined) {
      this.#schemas.set(part, new Unsupported('its schema refers to itself')); // Until it is resolved.
      stored = this.#tryResolve(part, steps, name);
      this.#schemas.set(part, stored);
    }
    if (stored instanceof Unsupported) {
      throw stored;
    }
    return stored;
  }

  #tryResolve(part: Part, steps: number, name: string | undefined): ResolvedSchema | Unsupported {
    try {
      const inner = this.#withoutComposition(part, steps);
      const types = listOf(inner.schema.type);
      const others = types.filter((type) => type !== 'null');
      const hasNull = others.length < types.length || inner.schema.nullable === true || isNullEnum(inner.schema);
      return {
        schema:
          types.length > 0 ? { ...inner.schema, type: others.length === 1 ? others[0] : undefined } : inner.schema,
        isNullable: inner.isNullable || hasNull,
        name: name ?? inner.name,
      };
    } catch (error) {
      if (error instanceof Unsupported) {
        return error;
      }
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
      const inner = this.#schemaOf(only, steps + 1);
      return { ...inner, isNullable: isNullable || inner.isNullable || alternatives.length > 1 };
    }
    const all = listOf(part.allOf).map((each) => this.#schemaOf(each, steps + 1));
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

/** Whether null is one of the values, which all other rules ignore. */
const isNullEnum = ({ enum: values }: Part): boolean => listOf(values).includes(null);

const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : Array.isArray(value) ? value[Number(name)] : undefined;

/** Decodes a name in a reference. */
function decodePointer(name: string): string {
  const unescaped = name.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(unescaped);
  } catch {
    return unescaped;
  }
}

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
  if (!isRecord(root) || (root.openapi === undefined && root.swagger === undefined)) {
    throw new ConfigError([`${name} is not an OpenAPI document: it has no member "openapi".`]);
  }
  if (root.swagger !== undefined) {
    throw new ConfigError([`${name} is a Swagger 2 document. Convert it to OpenAPI 3 first.`]);
  }
  if (!String(root.openapi).startsWith('3.')) {
    throw new ConfigError([`${name} has a version of OpenAPI that is not supported. Use 3.0 or 3.1.`]);
  }
  return root;
}

function parseDocument(file: string, name: string): unknown {
  try {
    const text = readTextFile(file, MAX_BYTES);
    return /^\s*\{/.test(text) && isJson(text)
      ? JSON.parse(text)
      : parse(text, { logLevel: 'silent', merge: true, uniqueKeys: false });
  } catch (error) {
    if (error instanceof FileError) {
      throw new ConfigError([`${name} ${error.message}.`]);
    }
    const [, line] = /\bat line (\d+)/.exec(String(error)) ?? [];
    const place =
      line === undefined ? (errorCodeOf(error) ?? 'it is nested too deeply, or has no end') : `line ${line}`;
    throw new ConfigError([`${name} is neither JSON nor YAML: ${place}.`]);
  }
}

/** Whether a text is JSON. YAML can begin with a brace too. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
