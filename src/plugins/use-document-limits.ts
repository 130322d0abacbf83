import {
  type DocumentNode,
  GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type ParseOptions,
  parse,
  type Source,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type DocumentLimits, findExcess } from './document-limits.ts';

export interface DocumentLimitsPluginOptions extends DocumentLimits {
  /** Whether clients may ask for the schema. @default true */
  introspection?: boolean;
}

/**
 * Refuses documents that cost more than any real client needs, with 400 and before validation, whose rules take more than linear
 * time. A document is looked at once: Yoga's cache of parsed documents gives the same one again.
 */
export function useDocumentLimits({ introspection = true, ...limits }: DocumentLimitsPluginOptions = {}): Plugin {
  const accepted = new WeakSet<DocumentNode>();
  const { maxTokens = 1_000 } = limits;
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => parseWithin(maxTokens, source, options));
      return ({ result, replaceParseResult }) => {
        if (!isDocument(result) || accepted.has(result)) {
          return;
        }
        const problem = findExcess(result, limits);
        if (problem === undefined) {
          accepted.add(result);
        } else {
          replaceParseResult(refuse(problem));
        }
      };
    },
    onValidate({ addValidationRule }) {
      if (!introspection) {
        addValidationRule(NoSchemaIntrospectionCustomRule);
      }
    },
  };
}

function parseWithin(maxTokens: number, source: string | Source, options?: ParseOptions): DocumentNode {
  try {
    return parse(source, { ...options, maxTokens });
  } catch (error) {
    const isLimit = error instanceof GraphQLError && /more tha[nt] \d+ tokens/.test(error.message);
    throw isLimit ? refuse(`The document has more than ${maxTokens} tokens.`) : error;
  }
}

const refuse = (problem: string): GraphQLError =>
  new GraphQLError(problem, { extensions: { code: 'DOCUMENT_REFUSED', http: { status: 400 } } });

const isDocument = (result: unknown): result is DocumentNode =>
  typeof result === 'object' && result !== null && 'kind' in result && result.kind === Kind.DOCUMENT;
