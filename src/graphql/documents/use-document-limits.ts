import { type DocumentNode, GraphQLError, NoSchemaIntrospectionCustomRule, parse } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Settings } from '../../settings/settings.ts';
import { type DocumentLimits, findExcess } from './document-limits.ts';
import { validateDocument } from './validate-document.ts';
import { withoutStack } from './without-stack.ts';

/** Most problems of a document that are reported. */
const MAX_ERRORS = 5;

/**
 * Refuses documents that cost more than any real client needs. The text is limited before it is parsed, the document before it is
 * validated, because rules of validation take more than linear time. The final document counts: another plugin may have replaced it.
 */
export function useDocumentLimits(limits: DocumentLimits & Pick<Settings, 'introspection'>): Plugin {
  const { introspection, maxTokens, maxDocumentCharacters } = limits;
  const accepted = new WeakSet<DocumentNode>();
  return {
    onParse({ params: { source }, setParseFn }) {
      if (source.toString().length > maxDocumentCharacters) {
        throw limitExceeded(`The document has more than ${maxDocumentCharacters} characters.`); // Before it is cached.
      }
      setParseFn((text, options) => parseWithin(maxTokens, text, options));
    },
    onValidate({ params: { documentAST }, setValidationFn, addValidationRule, setResult }) {
      if (!introspection) {
        addValidationRule(NoSchemaIntrospectionCustomRule);
      }
      setValidationFn((schema, document, rules) =>
        validateDocument(schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: !introspection }),
      );
      if (accepted.has(documentAST)) {
        return;
      }
      const problem = findExcess(documentAST, limits);
      if (problem === undefined) {
        accepted.add(documentAST);
      } else {
        setResult([limitExceeded(problem)]);
      }
    },
  };
}

function parseWithin(maxTokens: number, ...[source, options]: Parameters<typeof parse>): DocumentNode {
  try {
    return withoutStack(() => parse(source, { ...options, maxTokens }));
  } catch (error) {
    const isLimit = error instanceof GraphQLError && /more tha[nt] \d+ tokens/.test(error.message);
    throw isLimit ? limitExceeded(`The document has more than ${maxTokens} tokens.`) : error;
  }
}

const limitExceeded = (problem: string): GraphQLError =>
  new GraphQLError(problem, { extensions: { code: 'DOCUMENT_LIMIT_EXCEEDED', http: { status: 400 } } });
