// Typed documents: their texts, ids and kinds.

import type { DocumentNode } from 'graphql';

/**
 * Operation with the types of its result and variables. Pass it to urql, Apollo Client and graphql-request, which call it a
 * `TypedDocumentNode`.
 */
export interface TypedDocument<Result, Variables> extends DocumentNode {
  /** Carries the types; never set at runtime. */
  __apiType?: (variables: Variables) => Result;
  readonly __meta__: {
    /** SHA-256 of `text` as hex: the document's id in `schema/trusted-documents.json`. */
    readonly hash: string;
    readonly text: string;
  };
}

/** Minimum a document needs to be sent by this client: its types, and its text, its id or both, depending on the code generator. */
export interface RequestDocument<Result, Variables> {
  __apiType?: (variables: Variables) => Result;
  __meta__?: { hash?: string; text?: string } | undefined;
}

/**
 * Returns the id of a document, for clients that send ids. Pass this function as `generateHash` to urql's `persistedExchange` or Apollo
 * Client's `PersistedQueryLink`.
 *
 * @returns the SHA-256 of the document's text as hex, without the prefix `sha256:` that code generators may add
 * @throws {TypeError} if the code generator added no id
 */
export function hashOf(document: object | string): string {
  const hash = readMeta(document).hash;
  if (typeof hash !== 'string') {
    throw new TypeError(
      "The document has no id; only documents made by a code generator do. Send it as text (send: 'text').",
    );
  }
  return hash.replace(/^sha256:/, '');
}

/**
 * Returns the text of a document.
 *
 * @throws {TypeError} if the code generator left it out
 */
export function textOf(document: object | string): string {
  const text = readText(document);
  if (text === undefined) {
    throw new TypeError(
      "The document has no text because its code generator left it out. Send it by its id (send: 'id'), or generate texts (documentMode: 'string' in graphql-codegen).",
    );
  }
  return text;
}

/**
 * Returns whether a document can contain a mutation. Returns true for a text that only mentions one, and for a document that is only an id.
 */
export function mayWrite(document: object | string): boolean {
  const text = readText(document);
  if (text !== undefined) {
    return /\bmutation\b/.test(text);
  }
  const definitions: unknown = Reflect.get(Object(document), 'definitions');
  return !Array.isArray(definitions) || definitions.some((node) => node?.operation === 'mutation');
}

function readText(document: object | string): string | undefined {
  // Code generators make boxed strings of typed text.
  const text = typeof document === 'string' || document instanceof String ? String(document) : readMeta(document).text;
  return typeof text === 'string' ? text : undefined;
}

function readMeta(document: object | string): { hash?: unknown; text?: unknown } {
  const meta: unknown = typeof document === 'string' ? undefined : Reflect.get(document, '__meta__');
  return typeof meta === 'object' && meta !== null ? meta : {};
}
