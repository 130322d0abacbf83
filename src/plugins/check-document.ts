import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  type ParseOptions,
  parse,
  type Source,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { type DocumentLimits, findExcess } from './document-limits.ts';

export interface DocumentRules extends DocumentLimits {
  /** Whether clients may ask for the schema. @default true */
  introspection?: boolean;
}

/** What a document must be like before it is executed. */
export interface CheckDocument {
  /** Whether the text is too long to be looked at, as an error for the client. */
  refuseText(text: string): GraphQLError | undefined;
  /** Throws a `GraphQLError` where the text is no GraphQL, or has too many tokens. */
  parse(source: string | Source, options?: ParseOptions): DocumentNode;
  /** What of it is too much, as an error for the client. */
  refuse(document: DocumentNode): GraphQLError | undefined;
  /** Rules of validation besides those of the specification. */
  rules: readonly ValidationRule[];
  /** All of it at once; undefined where anything is wrong. */
  accept(text: string, schema: GraphQLSchema): DocumentNode | undefined;
}

export function createCheckDocument({ introspection = true, ...limits }: DocumentRules = {}): CheckDocument {
  const { maxTokens = 1_000, maxCharacters = 32 * 1024 } = limits;
  const rules = introspection ? [] : [NoSchemaIntrospectionCustomRule];
  const check: CheckDocument = {
    rules,
    refuseText: (text) =>
      text.length > maxCharacters ? refusal(`The document has more than ${maxCharacters} characters.`) : undefined,
    parse: (source, options) => parseWithin(maxTokens, source, options),
    refuse(document) {
      const problem = findExcess(document, limits);
      return problem === undefined ? undefined : refusal(problem);
    },
    accept(text, schema) {
      try {
        const document = check.parse(text);
        const isFine =
          check.refuseText(text) === undefined &&
          check.refuse(document) === undefined &&
          validate(schema, document, [...specifiedRules, ...rules]).length === 0;
        return isFine ? document : undefined;
      } catch {
        return undefined;
      }
    },
  };
  return check;
}

function parseWithin(maxTokens: number, source: string | Source, options?: ParseOptions): DocumentNode {
  try {
    return parse(source, { ...options, maxTokens });
  } catch (error) {
    const isLimit = error instanceof GraphQLError && /more tha[nt] \d+ tokens/.test(error.message);
    throw isLimit ? refusal(`The document has more than ${maxTokens} tokens.`) : error;
  }
}

const refusal = (problem: string): GraphQLError =>
  new GraphQLError(problem, { extensions: { code: 'DOCUMENT_REFUSED', http: { status: 400 } } });
