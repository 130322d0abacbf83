import {
  type DocumentNode,
  GraphQLError,
  Lexer,
  NoSchemaIntrospectionCustomRule,
  parse,
  Source,
  TokenKind,
} from 'graphql';
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
    return withoutStack(() => parse(source, { ...options, maxLexicalTokens: maxTokens }));
  } catch (error) {
    const isLimit = error instanceof GraphQLError && hasMoreTokens(source, maxTokens);
    throw isLimit ? limitExceeded(`The document has more than ${maxTokens} tokens.`) : error;
  }
}

/** Whether a document has more tokens than `max`, as the parser counts them: its own error for that has no code. */
function hasMoreTokens(source: string | Source, max: number): boolean {
  const lexer = new Lexer(typeof source === 'string' ? new Source(source) : source);
  try {
    for (let count = 0; count <= max; count += 1) {
      if (lexer.advance().kind === TokenKind.EOF) {
        return false;
      }
    }
    return true;
  } catch {
    return false; // An invalid character comes first, and that is what the parser reported.
  }
}

const limitExceeded = (problem: string): GraphQLError =>
  new GraphQLError(problem, { extensions: { code: 'DOCUMENT_LIMIT_EXCEEDED', http: { status: 400 } } });
