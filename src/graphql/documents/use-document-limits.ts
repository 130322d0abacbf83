import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Lexer,
  NoSchemaIntrospectionCustomRule,
  parse,
  Source,
  specifiedRules,
  TokenKind,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Settings } from '../../settings/settings.ts';
import { type DocumentLimits, findExceededLimit } from './document-limits.ts';
import { validateDocument } from './validate-document.ts';
import { withoutStack } from './without-stack.ts';

/** Maximum errors reported per document. */
const MAX_ERRORS = 5;

/**
 * Creates a plugin that rejects documents larger than any real client needs. It limits the text before parsing, and the document before
 * validation, because some validation rules take more than linear time. It checks the final document, which another plugin may have
 * replaced.
 */
export function useDocumentLimits(limits: DocumentLimits & Pick<Settings, 'introspection'>): Plugin {
  const { introspection, maxTokens, maxDocumentCharacters } = limits;
  const accepted = new WeakSet<DocumentNode>();
  return {
    onParse({ params: { source }, setParseFn }) {
      if (source.toString().length > maxDocumentCharacters) {
        throw limitExceeded(`The document has more than ${maxDocumentCharacters} characters.`); // Thrown before the document is cached.
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
      const problem = findExceededLimit(documentAST, limits);
      if (problem === undefined) {
        accepted.add(documentAST);
      } else {
        setResult([limitExceeded(problem)]);
      }
    },
  };
}

/** Returns why requests with a document would be rejected; undefined if it is valid. */
export function findDocumentProblem(
  schema: GraphQLSchema,
  text: string,
  limits: DocumentLimits & Pick<Settings, 'introspection'>,
): string | undefined {
  const { introspection, maxTokens, maxDocumentCharacters } = limits;
  if (text.length > maxDocumentCharacters) {
    return `The document has more than ${maxDocumentCharacters} characters.`;
  }
  try {
    const document = parseWithin(maxTokens, text);
    const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
    const [error] = validateDocument(schema, document, rules, { maxErrors: 1, hideSuggestions: false });
    return findExceededLimit(document, limits) ?? error?.message;
  } catch (error) {
    if (error instanceof GraphQLError) {
      return error.message;
    }
    throw error;
  }
}

function parseWithin(maxTokens: number, ...[source, options]: Parameters<typeof parse>): DocumentNode {
  try {
    return withoutStack(() => parse(source, { ...options, maxLexicalTokens: maxTokens }));
  } catch (error) {
    const isLimit = error instanceof GraphQLError && hasMoreTokens(source, maxTokens);
    throw isLimit ? limitExceeded(`The document has more than ${maxTokens} tokens.`) : error;
  }
}

/** Checks whether a document has more than `max` tokens, as the parser counts them. The parser's error for that has no code. */
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
    return false; // The parser reported an invalid character before the limit.
  }
}

/** Creates the error of a document that exceeds a limit. */
export const limitExceeded = (problem: string): GraphQLError =>
  new GraphQLError(problem, { extensions: { code: 'DOCUMENT_LIMIT_EXCEEDED', http: { status: 400 } } });
