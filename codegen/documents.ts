// Reads an app's operations, each with the fragments that it uses.

import { readdirSync, readFileSync } from 'node:fs';
import {
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  Source,
  separateOperations,
  validate,
  visit,
} from 'graphql';
import { sha256Of } from '../src/documents/manifest.ts';

/** An operation of an app, with the fragments that it uses. */
export interface AppOperation {
  name: string;
  /** Without locations, and with `__typename` wherever caches would add it: in every selection set except the operation's own. */
  document: DocumentNode;
  text: string;
  /** SHA-256 of `text`, in hex. */
  hash: string;
  /** The unchanged text of the file. */
  source: string;
}

/** Invalid document of an app; the message names the file and the problem. */
export class DocumentError extends Error {}

/**
 * Reads the `.graphql` files of a folder: any number of operations and fragments each.
 *
 * @returns the operations, sorted by the files' names
 * @throws {DocumentError} when one does not parse or does not fit the schema or the others, or an operation has no name
 */
export function loadDocuments(folder: URL, schema: GraphQLSchema): AppOperation[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.graphql'));
  const definitions = files.sort().flatMap((file) => parseFile(file, readFileSync(new URL(file, folder), 'utf8')));
  const anonymous = definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION && node.name === undefined);
  if (anonymous !== undefined) {
    throw new DocumentError(`${anonymous.loc?.source.name} has an operation without a name.`);
  }
  // Fragments after operations, by their names.
  const rankOf = (node: DefinitionNode) => (node.kind === Kind.FRAGMENT_DEFINITION ? node.name.value : '');
  definitions.sort((a, b) => rankOf(a).localeCompare(rankOf(b)));
  const all: DocumentNode = { kind: Kind.DOCUMENT, definitions };
  const [problem] = validate(schema, all);
  if (problem !== undefined) {
    throw new DocumentError(describe(problem));
  }
  return Object.entries(separateOperations(all)).map(([name, own]) => {
    const text = print(addTypenames(own));
    const source = own.definitions[0]?.loc?.source.body ?? '';
    return { name, source, document: parse(text, { noLocation: true }), text, hash: sha256Of(text) };
  });
}

function parseFile(file: string, source: string): readonly DefinitionNode[] {
  try {
    return parse(new Source(source, file)).definitions;
  } catch (error) {
    throw error instanceof GraphQLError ? new DocumentError(describe(error)) : error;
  }
}

/** Adds `__typename` at the end, as the caches of urql and Apollo Client do: adding it there would change the text and its hash. */
function addTypenames(document: DocumentNode): DocumentNode {
  const typename: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };
  return visit(document, {
    SelectionSet(node, _key, parent) {
      const isRoot = parent !== undefined && 'kind' in parent && parent.kind === Kind.OPERATION_DEFINITION;
      const isThere = node.selections.some((field) => field.kind === Kind.FIELD && field.name.value === '__typename');
      return isRoot || isThere ? undefined : { ...node, selections: [...node.selections, typename] };
    },
  });
}

/** Returns the place and the problem in one line. */
const describe = ({ source, locations: [place] = [], message }: GraphQLError): string =>
  `${source?.name}:${place?.line}:${place?.column}: ${message}`;
