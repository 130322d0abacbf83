import {
  type ASTNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  OverlappingFieldsCanBeMergedRule,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { setNodes, truncateMessage } from '../executor/located-error.ts';
import { withoutStack } from './without-stack.ts';

/** Options of `validateDocument`. */
export interface ValidateDocumentOptions {
  /** Maximum number of errors to report. */
  maxErrors: number;
  /** Whether messages leave out suggestions, which reveal names of the schema. */
  hideSuggestions: boolean;
}

/** Maximum nodes of an error. A conflict of fields can name hundreds, and errors are cached with their document. */
const MAX_NODES = 10;

/**
 * Validates a document as graphql-js does. Passes the rules a copy without locations, because GraphQLError's constructor would scan the
 * source for the location of each node. The rule that compares fields in pairs runs only if there are no other errors.
 */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = specifiedRules,
  { maxErrors, hideSuggestions }: ValidateDocumentOptions,
): GraphQLError[] {
  const originals = new Map<unknown, ASTNode>();
  const copy = copyNode(document, originals);
  const errorsBy = (some: readonly ValidationRule[]) => validate(schema, copy, some, { maxErrors, hideSuggestions });
  const errors = [...errorsBy(rules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule))];
  if (errors.length === 0 && rules.includes(OverlappingFieldsCanBeMergedRule)) {
    errors.push(...errorsBy([OverlappingFieldsCanBeMergedRule]));
  }
  const toCached = ({ message, nodes = [], extensions }: GraphQLError): GraphQLError =>
    setNodes(
      new GraphQLError(truncateMessage(message), { extensions }),
      nodes.slice(0, MAX_NODES).map((node) => originals.get(node) ?? node),
    );
  return withoutStack(() => errors.slice(0, maxErrors).map(toCached));
}

function copyNode<Node extends ASTNode>(node: Node, originals: Map<unknown, ASTNode>): Node {
  const copy = { ...node, loc: undefined };
  for (const key in copy) {
    const value: unknown = Reflect.get(copy, key);
    if (typeof value === 'object' && value !== null) {
      Reflect.set(copy, key, copyChild(value, originals));
    }
  }
  originals.set(copy, node);
  return copy;
}

function copyChild(value: object, originals: Map<unknown, ASTNode>): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => copyChild(item, originals));
  }
  return isNode(value) ? copyNode(value, originals) : value;
}

const isNode = (value: object): value is ASTNode => 'kind' in value && typeof value.kind === 'string';
