// Compares two schemas, and finds the operations of an app that break.

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  buildASTSchema,
  concatAST,
  type DocumentNode,
  findBreakingChanges,
  findDangerousChanges,
  GraphQLError,
  type GraphQLNamedType,
  GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  Source,
  separateOperations,
  TypeInfo,
  validate,
  validateSchema,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { validateSDL } from 'graphql/validation/validate.js';
import { createManifestFiles, shortenId } from '../../../src/documents/manifest.ts';
import { listDeprecated } from '../../../src/documents/validate.ts';
import { FileError, isFolder } from '../../../src/files/text-file.ts';
import { SetupError } from '../../../src/lib/caught.ts';
import type { GatewayModule } from '../../../src/modules/module.ts';
import { createSchema, printSdl } from '../../../src/modules/schema.ts';
import { ConfigError, readNamedFile } from './config/problem.ts';
import { countOf } from './text.ts';

interface Change {
  /** Kind, such as `FIELD_REMOVED`. */
  type: string;
  description: string;
}

interface AppOperation {
  name: string;
  /** File, or id in a manifest. */
  source: string;
  document: DocumentNode;
}

/** Differences between two schemas, and their effect on operations. */
interface SchemaDiff {
  breaking: readonly Change[];
  dangerous: readonly Change[];
  other: readonly Change[];
  /** Effect on the operations of the documents, if there are any. */
  operations?: {
    checked: number;
    /** Places of documents that are not checked, because they contain expressions. */
    unread: readonly string[];
    broken: readonly { name: string; source: string; reasons: readonly string[] }[];
  };
}

/** Maximum size of a file, in bytes. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/**
 * Compares two schemas.
 *
 * @param paths files; `-` is standard input, and `after` is by default the gateway's schema with `modules`. `documents` is a file or folder of operations.
 * @throws {ConfigError} if a file can't be read, or its content is invalid
 */
export async function diffSchemas(
  paths: {
    before: string;
    after: string | undefined;
    documents: string | undefined;
    modules: readonly GatewayModule[];
  },
  stdin: NodeJS.ReadableStream,
): Promise<SchemaDiff> {
  const read = async (path: string) =>
    path === '-'
      ? parseSchema('standard input', await text(stdin))
      : parseSchema(path, readNamedFile(path, MAX_INPUT_BYTES));
  const before = await read(paths.before);
  const after =
    paths.after === undefined
      ? parseSchema("the gateway's schema", printSdl(createSchema(undefined, paths.modules)))
      : await read(paths.after);
  const breaking = findBreakingChanges(before, after);
  const unread: string[] = [];
  const operations = paths.documents === undefined ? undefined : readOperations(paths.documents, unread);
  const broken = operations?.flatMap(({ name, source, document }) => {
    const reasons = findReasons(document, { before, after, breaking });
    return reasons.length === 0 ? [] : [{ name, source, reasons }];
  });
  return {
    breaking,
    dangerous: findDangerousChanges(before, after),
    other: findOtherChanges(before, after),
    ...(operations && broken && { operations: { checked: operations.length, unread, broken } }),
  };
}

/** Returns the additions and deprecations, which graphql doesn't list. Fields of inputs, arguments and values are among its dangerous changes. */
function findOtherChanges(before: GraphQLSchema, after: GraphQLSchema): Change[] {
  const additions = Object.values(after.getTypeMap()).flatMap((type): Change[] => {
    const previous = before.getType(type.name);
    if (previous === undefined) {
      return [{ type: 'TYPE_ADDED', description: `${type.name} was added.` }];
    }
    const previousFields = new Set(fieldsOf(previous));
    return fieldsOf(type)
      .filter((name) => !previousFields.has(name))
      .map((name) => ({ type: 'FIELD_ADDED', description: `${type.name}.${name} was added.` }));
  });
  const previouslyDeprecated = listDeprecated(before);
  const deprecations = [...listDeprecated(after)]
    .filter(([coordinate]) => !previouslyDeprecated.has(coordinate))
    .map(([coordinate, reason]) => ({
      type: 'DEPRECATED',
      description: `${coordinate} is deprecated: ${reason.replace(/\s+/g, ' ')}`,
    }));
  return [...additions, ...deprecations];
}

const fieldsOf = (type: GraphQLNamedType): string[] =>
  isObjectType(type) || isInterfaceType(type) ? Object.keys(type.getFields()) : [];

/**
 * Returns why an operation that an app was built with no longer works. A valid one breaks too if the type of a field that it selects became
 * incompatible, or a type of its variables, whose values aren't in the document.
 */
function findReasons(
  document: DocumentNode,
  { before, after, breaking }: { before: GraphQLSchema; after: GraphQLSchema; breaking: readonly Change[] },
): string[] {
  const reasons = validate(after, document).map(({ message }) => message);
  const outputs = new Set<string>(); // Fields, and their types.
  const inputs: GraphQLNamedType[] = [];
  const typeInfo = new TypeInfo(before);
  const visitor = visitWithTypeInfo(typeInfo, {
    OperationDefinition({ operation }) {
      if (after.getRootType(operation) == null) {
        reasons.push(`The schema has no ${operation} type.`);
      }
    },
    VariableDefinition() {
      const type = getNamedType(typeInfo.getInputType());
      inputs.push(...(type == null ? [] : [type]));
    },
    Field() {
      outputs.add(`${typeInfo.getParentType()?.name}.${typeInfo.getFieldDef()?.name}`);
      outputs.add(String(getNamedType(typeInfo.getType())));
    },
  });
  visit(document, visitor);
  const changes = [
    ...breaking.filter(
      ({ type, description }) => type.endsWith('_CHANGED_KIND') && outputs.has(description.replace(/ .*/, '')),
    ),
    ...findBreakingChanges(new GraphQLSchema({ types: inputs }), after),
  ];
  return [...new Set([...reasons, ...changes.map(({ description }) => description)])];
}

/** Parses and validates a schema. @throws {ConfigError} with the place of the first problem */
function parseSchema(source: string, body: string): GraphQLSchema {
  const document = parseDocument(source, body);
  rejectFirst(source, validateSDL(document));
  const schema = buildASTSchema(document, { assumeValidSDL: true });
  rejectFirst(source, validateSchema(schema));
  return schema;
}

function parseDocument(source: string, body: string): DocumentNode {
  try {
    return parse(new Source(body, source));
  } catch (error) {
    rejectFirst(source, error instanceof GraphQLError ? [error] : []);
    throw error;
  }
}

function rejectFirst(source: string, [error]: readonly GraphQLError[]): void {
  if (error !== undefined) {
    const { message, locations: [place] = [] } = error;
    throw new ConfigError([
      place === undefined ? `${source}: ${message}` : { place: { source, ...place }, sentence: message },
    ]);
  }
}

const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/;

/** Matches a document in code: a template after `gql` or `graphql`, as a tag or an argument, or after the comment `GraphQL`. */
const TEMPLATE = /(?:\b(?:gql|graphql)\s*(?:<[^<>`]*>\s*)?\(?|\/\*\s*GraphQL\s*\*\/)\s*`((?:\\.|[^\\`])*)`/;

/**
 * Matches comments and strings, in which a template is no document. Nothing before the comment's begin is part of a pattern for files or an address, such
 * as src/*.ts, and a string ends in its line, because an apostrophe can also be text of a page.
 */
const TEXT = /(?<![^\s(){[,;=>])(?:\/\*.*?\*\/|\/\/[^\n]*)|<!--.*?-->|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/;

const DOCUMENT_OR_TEXT = new RegExp(`${TEMPLATE.source}|${TEXT.source}`, 'gs');

/** Reads the documents of a file, at their lines; none of other files. Adds the places of those with expressions to a list. */
function readDocuments(file: string, unread: string[]): DocumentNode[] {
  if (/\.(?:graphql|gql)$/.test(file)) {
    return [parseDocument(file, readNamedFile(file, MAX_INPUT_BYTES))];
  }
  const body = CODE.test(file) && !isFolder(file) ? readNamedFile(file, MAX_INPUT_BYTES) : '';
  return [...body.matchAll(DOCUMENT_OR_TEXT)].flatMap(({ 0: { length }, 1: content, index }) => {
    if (content === undefined) {
      return [];
    }
    const before = body.slice(0, index + length - content.length - 1).replace(/[^\n]/g, '');
    if (/(?<!\\)\$\{/.test(content)) {
      unread.push(`${file}:${before.length + 1}`);
      return [];
    }
    return parseDocument(file, before + content.replace(/\\([`\\$])/g, '$1'));
  });
}

/**
 * Reads the operations of an app: of a manifest, a document or code, or of a folder. A folder with documents is searched with its subfolders.
 *
 * @param unread receives the places of documents that can't be read
 * @throws {ConfigError} if a file can't be read, or there are no operations
 */
function readOperations(path: string, unread: string[]): AppOperation[] {
  try {
    const names = isFolder(path) ? globSync('**/*.*', { cwd: path, exclude: ['**/node_modules'] }) : [''];
    const documents = names.sort().flatMap((name) => readDocuments(join(path, name), unread));
    const operations =
      documents.length + unread.length > 0
        ? splitDocument(concatAST(documents)) // Fragments may be in other files.
        : createManifestFiles([path])
            .manifests()
            .flatMap((manifest) => Object.entries(manifest))
            .flatMap(([id, body]) => splitDocument(parseDocument(`document ${shortenId(id)}`, body)));
    if (operations.length === 0) {
      throw new ConfigError([`--documents: ${path} has no operations${unread[0] ? ' without expressions' : ''}.`]);
    }
    return operations;
  } catch (error) {
    if (error instanceof FileError) {
      throw new ConfigError([`--documents: ${path} ${error.message}.`]);
    }
    throw error instanceof SetupError ? new ConfigError([`--documents: ${error.message}.`]) : error;
  }
}

/** Returns the operations of a document, each with the fragments that it uses. Two may have the same name. */
function splitDocument(document: DocumentNode): AppOperation[] {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  return document.definitions.flatMap((node) => {
    if (node.kind !== Kind.OPERATION_DEFINITION) {
      return [];
    }
    const parts = separateOperations({ kind: Kind.DOCUMENT, definitions: [node, ...fragments] });
    return Object.values(parts).map((part) => ({
      name: node.name?.value ?? `unnamed ${node.operation}`,
      source: node.loc?.source.name ?? '',
      document: part,
    }));
  });
}

/** Formats a comparison for people, breaking changes first. */
export function formatDiff({ breaking, dangerous, other, operations }: SchemaDiff): string {
  const { checked = 0, unread = [], broken } = operations ?? {};
  const unused = broken?.length === 0 ? ', which no operation uses' : '';
  const sections = [
    writeChanges('breaking', breaking, unused),
    writeChanges('dangerous', dangerous),
    writeChanges('other', other),
  ].filter((section) => section !== '');
  if (sections.length === 0) {
    sections.push('No breaking or dangerous changes, additions or deprecations.\n');
  }
  if (broken !== undefined) {
    const lines = broken.flatMap(({ name, source, reasons }) =>
      reasons.map((reason) => `  ${name} (${source}): ${reason}\n`),
    );
    const verb = broken.length === 1 ? 'breaks' : 'break';
    sections.push(
      broken.length === 0
        ? `None of ${checked} operations breaks.\n`
        : `${broken.length} of ${checked} operations ${verb}:\n${lines.join('')}`,
    );
  }
  if (unread.length > 0) {
    sections.push(`Not read, because of an expression (\${…}):\n${unread.map((place) => `  ${place}\n`).join('')}`);
  }
  return sections.join('\n');
}

function writeChanges(kind: string, changes: readonly Change[], suffix = ''): string {
  const lines = changes.map(({ description }) => `  ${description}\n`);
  return lines.length === 0 ? '' : `${countOf(lines.length, `${kind} change`)}${suffix}:\n${lines.join('')}`;
}
