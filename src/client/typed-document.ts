import type { DocumentNode } from 'graphql';

/**
 * An operation that carries the types of its result and variables. It is what urql, Apollo Client and graphql-request call a
 * `TypedDocumentNode`: hand it to them as it is.
 */
export interface TypedDocument<Result, Variables> extends DocumentNode {
  /** Never there: it only carries the types. */
  __apiType?: (variables: Variables) => Result;
  readonly __meta__: {
    /** SHA-256 of `text`, in hex: the document's id in `schema/trusted-documents.json`. */
    readonly hash: string;
    /** The document as text. */
    readonly text: string;
  };
}

/** What of a document this client needs: its types, and its text, its id, or both. Code generators write either. */
export interface RequestDocument<Result, Variables> {
  __apiType?: (variables: Variables) => Result;
  __meta__?: { hash?: string; text?: string } | undefined;
}

/**
 * The id of a document, for clients that shall send ids: `generateHash` of urql's `persistedExchange` and of Apollo Client's
 * `PersistedQueryLink`.
 *
 * @returns the SHA-256 of its text, in hex
 * @throws {TypeError} when no code generator gave it one
 */
export function hashOf(document: object | string): string {
  const hash = metaOf(document).hash;
  if (typeof hash !== 'string') {
    throw new TypeError('The document has no id: only documents of a code generator have one. Send it as a text.');
  }
  return hash;
}

/** @throws {TypeError} when the code generator left it out */
export function textOf(document: object | string): string {
  // Boxed strings are what code generators make of a typed text.
  const text = typeof document === 'string' || document instanceof String ? String(document) : metaOf(document).text;
  if (typeof text !== 'string') {
    throw new TypeError("The document has no text: its code generator left it out. Send it by its id (send: 'id').");
  }
  return text;
}

function metaOf(document: object | string): { hash?: unknown; text?: unknown } {
  const meta: unknown = typeof document === 'string' ? undefined : Reflect.get(document, '__meta__');
  return typeof meta === 'object' && meta !== null ? meta : {};
}
