import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type Token,
  TokenKind,
} from 'graphql';
import { sha256Of } from '../documents/manifest.ts';
import { type RequiredScopes, readRequiredScopes } from '../documents/required-scopes.ts';
import { type ObjectSchema, toInputSchema } from './input-schema.ts';

/** Hints for the people and programs that decide about a call. */
export interface ToolAnnotations {
  readOnlyHint: boolean;
  /** Whether a call may change or delete what exists. Absent for reads. */
  destructiveHint?: boolean;
}

/** Operation of a trusted document that AI agents can call. */
export interface Tool {
  /** Name of the operation. */
  name: string;
  type: 'query' | 'mutation';
  description: string;
  inputSchema: ObjectSchema;
  annotations: ToolAnnotations;
  requiredScopes: RequiredScopes;
  text: string;
  /** SHA-256 of the text, by which requests refer to it. */
  hash: string;
}

/** Creates a tool from a valid document with one operation, which has a name. */
export function createTool(
  name: string,
  operation: OperationDefinitionNode,
  { document, text, schema }: { document: DocumentNode; text: string; schema: GraphQLSchema },
): Tool {
  const type = operation.operation === 'mutation' ? 'mutation' : 'query';
  const fields = rootFieldsOf(operation, schema);
  return {
    name,
    type,
    description: readComment(operation) || describe(fields) || `Executes the ${type} ${name}.`,
    inputSchema: toInputSchema(operation, document, schema),
    annotations:
      type === 'query'
        ? { readOnlyHint: true }
        : {
            readOnlyHint: false,
            destructiveHint: fields.length === 0 || !fields.every(({ extensions }) => 'addsOnly' in extensions),
          },
    requiredScopes: readRequiredScopes(schema, document, operation),
    text,
    hash: sha256Of(text),
  };
}

/** Returns the root fields of an operation; none if it has fragments there. */
function rootFieldsOf(
  { operation, selectionSet: { selections } }: OperationDefinitionNode,
  schema: GraphQLSchema,
): GraphQLField<unknown, unknown>[] {
  const known = schema.getRootType(operation)?.getFields() ?? {};
  const fields = selections.flatMap((selection) =>
    selection.kind === Kind.FIELD ? (known[selection.name.value] ?? []) : [],
  );
  return selections.every(({ kind }) => kind === Kind.FIELD) ? fields : [];
}

/** Returns the comment lines directly above an operation, without their marks. */
function readComment({ loc }: OperationDefinitionNode): string {
  const lines: string[] = [];
  let token: Token | null | undefined = loc?.startToken;
  for (let next = token; next !== undefined && next !== null; next = token) {
    token = next.prev;
    if (token?.kind !== TokenKind.COMMENT || token.line !== next.line - 1) {
      break;
    }
    lines.unshift(token.value.trim());
  }
  return lines.join('\n').trim();
}

/** Returns the first paragraphs of the fields' descriptions. The others name REST calls and scopes. */
const describe = (fields: readonly GraphQLField<unknown, unknown>[]): string =>
  fields
    .map(({ description }) => description?.split('\n\n')[0] ?? '')
    .join(' ')
    .trim();
