import { type DocumentNode, Kind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { CheckDocument } from './check-document.ts';

export interface DocumentLimitsPluginOptions {
  /** See `createCheckDocument`. */
  check: CheckDocument;
}

/**
 * Refuses documents that cost more than any real client needs, with 400 and before validation, whose rules take more than linear
 * time. A document is looked at once: Yoga's cache of parsed documents gives the same one again.
 */
export function useDocumentLimits({ check }: DocumentLimitsPluginOptions): Plugin {
  const accepted = new WeakSet<DocumentNode>();
  return {
    onParams({ params: { query } }) {
      const problem = typeof query === 'string' ? check.refuseText(query) : undefined; // Before the text is remembered.
      if (problem !== undefined) {
        throw problem;
      }
    },
    onParse({ setParseFn }) {
      setParseFn(check.parse);
      return ({ result, replaceParseResult }) => {
        if (!isDocument(result) || accepted.has(result)) {
          return;
        }
        const problem = check.refuse(result);
        if (problem === undefined) {
          accepted.add(result);
        } else {
          replaceParseResult(problem);
        }
      };
    },
    onValidate({ addValidationRule }) {
      for (const rule of check.rules) {
        addValidationRule(rule);
      }
    },
  };
}

const isDocument = (result: unknown): result is DocumentNode =>
  typeof result === 'object' && result !== null && 'kind' in result && result.kind === Kind.DOCUMENT;
