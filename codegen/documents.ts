import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  Source,
  validate,
  visit,
} from 'graphql';

/** An operation of an app, with the fragments that it uses. */
export interface AppOperation {
  name: string;
  /** Name of the file. */
  file: string;
  /** Without locations, and with `__typename` wherever caches would add it: in every selection set except the operation's own. */
  document: DocumentNode;
  /** The document, printed. */
  text: string;
  /** SHA-256 of `text`, in hex. */
  hash: string;
  /** The unchanged text of the file. */
  source: string;
}

/** Invalid document of an app; the message names the file and the problem. */
export class DocumentError extends Error {}

interface Definition<Node extends DefinitionNode> {
  node: Node;
  file: string;
  source: string;
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Reads the `.graphql` files of a folder: any number of operations and fragments each.
 *
 * @returns the operations, sorted by the files' names; undefined when there is no such folder
 * @throws {DocumentError} when one does not parse, does not fit the schema, has no name, or shares its name with another
 */
export function loadDocuments(folder: URL, schema: GraphQLSchema): AppOperation[] | undefined {
  if (!existsSync(folder)) {
    return undefined;
  }
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.graphql'))
    .sort();
  const operations: Definition<OperationDefinitionNode>[] = [];
  const fragments = new Map<string, Definition<FragmentDefinitionNode>>();
  for (const file of files) {
    const source = readFileSync(new URL(file, folder), 'utf8');
    for (const node of parseFile(file, source).definitions) {
      if (node.kind === Kind.OPERATION_DEFINITION) {
        operations.push({ node, file, source });
      } else if (node.kind === Kind.FRAGMENT_DEFINITION) {
        refuseTwins('fragments', node.name.value, fragments.get(node.name.value)?.file, file);
        fragments.set(node.name.value, { node, file, source });
      } else {
        throw new DocumentError(`${file} defines something else than operations and fragments.`);
      }
    }
  }
  refuseUnused(operations, fragments);
  const named = new Map<string, AppOperation>();
  for (const definition of operations) {
    const operation = toAppOperation(definition, fragments, schema);
    refuseTwins('operations', operation.name, named.get(operation.name)?.file, definition.file);
    named.set(operation.name, operation);
  }
  return [...named.values()];
}

function parseFile(file: string, source: string): DocumentNode {
  try {
    return parse(new Source(source, file));
  } catch (error) {
    throw new DocumentError(describe(file, error));
  }
}

function toAppOperation(
  { node, file, source }: Definition<OperationDefinitionNode>,
  fragments: ReadonlyMap<string, Definition<FragmentDefinitionNode>>,
  schema: GraphQLSchema,
): AppOperation {
  const name = node.name?.value;
  if (name === undefined) {
    throw new DocumentError(`${file} has an operation without a name.`);
  }
  const used = [...usedFragments(node, fragments)].sort();
  const definitions = [node, ...used.flatMap((fragment) => fragments.get(fragment)?.node ?? [])];
  const [problem] = validate(schema, { kind: Kind.DOCUMENT, definitions });
  if (problem !== undefined) {
    throw new DocumentError(describe(file, problem));
  }
  const text = print(addTypenames({ kind: Kind.DOCUMENT, definitions }));
  return { name, file, source, document: parse(text, { noLocation: true }), text, hash: sha256(text) };
}

/** Returns the names of all fragments that a definition uses, directly or through other fragments. */
function usedFragments(
  node: DefinitionNode,
  fragments: ReadonlyMap<string, Definition<FragmentDefinitionNode>>,
  used = new Set<string>(),
): Set<string> {
  visit(node, {
    FragmentSpread({ name: { value } }) {
      const fragment = fragments.get(value);
      if (fragment !== undefined && !used.has(value)) {
        usedFragments(fragment.node, fragments, used.add(value));
      }
    },
  });
  return used;
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

function refuseTwins(kind: string, name: string, first: string | undefined, second: string): void {
  if (first !== undefined) {
    const where = first === second ? `in ${first}` : `in ${first} and ${second}`;
    throw new DocumentError(`There are two ${kind} with the name ${name}, ${where}.`);
  }
}

/** Rejects unused fragments, because they are validated only as part of an operation. */
function refuseUnused(
  operations: readonly Definition<OperationDefinitionNode>[],
  fragments: ReadonlyMap<string, Definition<FragmentDefinitionNode>>,
): void {
  const used = new Set(operations.flatMap(({ node }) => [...usedFragments(node, fragments)]));
  for (const [name, { file }] of fragments) {
    if (!used.has(name)) {
      throw new DocumentError(`${file} has the fragment ${name}, which no operation uses.`);
    }
  }
}

/** Returns the place and the problem in one line. */
function describe(file: string, error: unknown): string {
  if (!(error instanceof GraphQLError)) {
    throw error;
  }
  const [place] = error.locations ?? [];
  // A fragment may come from another file, which its source names.
  return `${error.source?.name ?? file}:${place?.line ?? 1}:${place?.column ?? 1}: ${error.message}`;
}
