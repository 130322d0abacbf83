// Reads an OpenAPI document, and follows its references.

import querystring from 'node:querystring';
import { parse } from 'yaml';
import { caught } from '../../../../src/lib/caught.ts';
import { arrayOf, isRecord, recordOf } from '../../../../src/lib/is-record.ts';
import { ConfigError, readNamedFile } from '../config/problem.ts';

/** Object of the document. Its members can have any form, and are checked where they are read. */
export type DocumentPart = Readonly<Record<string, unknown>>;

/** Reason why a part of the document can't be written: a clause. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported';
}

/** Schema without references, compositions and null. */
interface ResolvedSchema {
  /** The same object each time, so that it identifies a type. */
  readonly schema: DocumentPart;
  readonly isNullable: boolean;
  /** Whether a value can have one of several forms. */
  readonly hasAlternatives: boolean;
  /** Name in the document; undefined for a schema within another. */
  readonly name: string | undefined;
}

export interface DescribedOperation {
  method: string;
  /** Path with that of the server, such as `/v1/topics/{topicKey}`. */
  route: string;
  operation: DocumentPart;
  /** Parameters of the path and then of the method. */
  parameters: readonly unknown[];
}

/** Maximum size of a document. The largest public ones have 14 MB. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/** Maximum references and compositions around one schema. */
const MAX_STEPS = 50;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export class OpenApiDocument {
  readonly #root: DocumentPart;
  /** Each schema is resolved once: compositions of compositions would take exponential time. */
  readonly #schemas = new Map<DocumentPart, ResolvedSchema>();
  readonly #resolving = new Set<DocumentPart>();
  /** Names of schemas, by the names of their types. */
  readonly #alike: Map<string, string[]>;
  readonly skipped: { part: string; reason: string }[] = [];

  /** @throws {ConfigError} if the file is no OpenAPI document of version 3 */
  constructor(file: string, name: string) {
    this.#root = readDocument(file, name);
    this.#alike = Map.groupBy(Object.keys(recordOf(recordOf(this.#root.components).schemas)), stemOf);
  }

  /** Returns the name of a schema without its ending, unless another one has that name too. Which paths use them doesn't matter. */
  shortNameOf(name: string): string {
    return this.#alike.get(stemOf(name))?.length === 1 ? stemOf(name).replace(/Request$/, '') : name;
  }

  /** Returns all operations. Their routes begin with the path of the server, which the service's address doesn't contain. */
  operations(): DescribedOperation[] {
    const prefix = pathOf(this.#root.servers);
    return Object.entries(recordOf(this.#root.paths)).flatMap(([path, sent]) => {
      const route = prefix + path;
      const item = this.try(route, false, () => this.resolve(sent))[0] ?? {};
      return METHODS.filter((method) => isRecord(item[method])).map((method) => {
        const operation = recordOf(item[method]);
        const parameters = [...arrayOf(item.parameters), ...arrayOf(operation.parameters)];
        return { method: method.toUpperCase(), route, operation, parameters };
      });
    });
  }

  /** Returns parameters without references. Of two with the same name and place, the last one counts. @throws {Unsupported} if one is in another document */
  parametersOf({ parameters }: DescribedOperation): DocumentPart[] {
    const all = parameters.map((parameter) => this.resolve(parameter));
    return [...new Map(all.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values()];
  }

  /** Follows references to other parts. @throws {Unsupported} if one leads nowhere, or out of the document */
  resolve(part: unknown): DocumentPart {
    return this.#follow(part).part;
  }

  /**
   * Plans a part of what is written, and returns the plan in a list. A part that can't be written is skipped.
   *
   * @throws {Unsupported} if it is required
   */
  try<Plan>(part: string, isRequired: boolean, plan: () => Plan): Plan[] {
    const planned: Plan[] = [];
    const error = caught(Unsupported, () => planned.push(plan()));
    if (error !== undefined && isRequired) {
      throw new Unsupported(`it requires ${part.replace(/.*, /s, '')}, but ${error.message}`);
    }
    this.skipped.push(...(error === undefined ? [] : [{ part, reason: error.message }]));
    return planned;
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
  #compose({ allOf, oneOf, anyOf, ...own }: DocumentPart, name: string | undefined): ResolvedSchema {
    const alternatives = [...arrayOf(oneOf), ...arrayOf(anyOf)];
    const others = alternatives.filter((each) => recordOf(each).type !== 'null');
    const inner = [...arrayOf(allOf), ...(others.length === 1 ? others : [])].map((each) => this.schemaOf(each));
    const [first] = inner;
    const isAlone = inner.length === 1 && own.properties === undefined && own.required === undefined;
    const types = arrayOf(own.type).filter((type) => type !== 'null');
    const parts = [...inner.map(({ schema }) => schema), own];
    const merged = {
      ...Object.assign({}, ...parts),
      ...(Array.isArray(own.type) ? { type: types.length === 1 ? types[0] : undefined } : {}),
      properties: Object.fromEntries(parts.flatMap(({ properties }) => Object.entries(recordOf(properties)))),
      required: [...new Set(parts.flatMap(({ required }) => arrayOf(required)))],
    };
    return {
      schema: isAlone && first !== undefined ? first.schema : merged,
      isNullable:
        own.nullable === true ||
        others.length < alternatives.length ||
        arrayOf(own.type).includes('null') ||
        arrayOf(own.enum).includes(null) ||
        (inner.length === 1 && first?.isNullable === true),
      hasAlternatives: others.length > 1 || inner.some((each) => each.hasAlternatives),
      name: name ?? (isAlone ? first?.name : undefined),
    };
  }

  #follow(sent: unknown): { part: DocumentPart; name: string | undefined } {
    let part: unknown = sent === true || sent === undefined ? {} : sent;
    let name: string | undefined;
    for (let steps = 0; isRecord(part) && typeof part.$ref === 'string'; steps += 1) {
      if (!part.$ref.startsWith('#/') || steps > MAX_STEPS) {
        throw new Unsupported('it refers to another document, or to itself');
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

/** Returns the name of a schema without its ending. Those of requests are other types than those of responses. */
const stemOf = (name: string): string => name.replace(/(?:Response)?(?:Dto|DTO)$/, '');

const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : Array.isArray(value) ? value[Number(name)] : undefined;

const decodePointer = (name: string): string => querystring.unescape(name).replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns the path of the first server, without a slash at its end. */
function pathOf(servers: unknown): string {
  const [server] = arrayOf(servers);
  const { url, variables } = recordOf(server);
  const filled = String(url ?? '').replace(/\{([^{}]*)\}/g, (_, name: string) =>
    String(recordOf(recordOf(variables)[name]).default ?? ''),
  );
  return URL.parse(filled, 'http://service.test')?.pathname.replace(/\/+$/, '') ?? '';
}

/** @throws {ConfigError} if the file is no OpenAPI document of version 3 */
function readDocument(file: string, name: string): DocumentPart {
  const text = readNamedFile(file, MAX_DOCUMENT_BYTES, name);
  // Aliases of YAML can contain themselves, which JSON can't. Names are texts, whatever they look like: `null` and `1e3` can be properties.
  const toJson = () =>
    JSON.stringify(parse(text, { logLevel: 'silent', merge: true, stringKeys: true, uniqueKeys: false }));
  let root: DocumentPart;
  try {
    root = recordOf(JSON.parse(text.trimStart().startsWith('{') ? text : toJson())); // The parser of YAML takes seconds for large documents in JSON.
  } catch (error) {
    const [, line] = /\bline (\d+)/.exec(String(error)) ?? [];
    const reason = line === undefined ? 'it has a mistake, is nested too deeply, or has no end' : `see line ${line}`;
    throw new ConfigError([`${name} is neither JSON nor YAML that can be read: ${reason}.`]);
  }
  if (String(root.openapi).startsWith('3.')) {
    return root;
  }
  const problem =
    root.swagger === undefined
      ? 'is not an OpenAPI document of version 3: its member "openapi" doesn\'t say so.'
      : 'is a Swagger 2 document. Convert it to OpenAPI 3 first.';
  throw new ConfigError([`${name} ${problem}`]);
}
