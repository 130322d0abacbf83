import { type DocumentNode, type Token, TokenKind } from 'graphql';
import { LRUCache } from 'lru-cache';

/** Bounds of the caches of documents, in bytes of the heap. */
export interface DocumentCacheOptions {
  /** Parsed documents. @default 20 MiB */
  maxDocumentBytes?: number;
  /** Syntax errors. @default 2 MiB */
  maxErrorBytes?: number;
}

/** Caches of Yoga's parser, by the text of the document. */
export interface DocumentCaches {
  documentCache: LRUCache<string, DocumentNode>;
  errorCache: LRUCache<string, Error>;
}

const MIB = 1024 * 1024;

/** Heap of a node with its location and token, measured: 240 to 510 bytes per token, depending on the document. */
const BYTES_PER_TOKEN = 520;

/** Comments have a token, but no node. */
const BYTES_PER_COMMENT = 120;

/** An index of line breaks is kept for documents whose errors have been located. */
const BYTES_PER_LINE = 12;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Errors of validation are kept with their document: 5 at most, with messages of 300 characters. */
const BYTES_OF_ERRORS = 4_096;

/** Heap of anything that is cached, besides its text. */
const BYTES_PER_ENTRY = 2_048;

/**
 * Creates caches that are bounded by bytes. Yoga's own count entries: 1,100 anonymous documents of 32 KB took the heap from 32 to
 * 335 MB.
 */
export const createDocumentCaches = ({
  maxDocumentBytes = 20 * MIB,
  maxErrorBytes = 2 * MIB,
}: DocumentCacheOptions = {}): DocumentCaches => ({
  documentCache: new LRUCache({
    maxSize: maxDocumentBytes,
    sizeCalculation: (document, text) =>
      BYTES_OF_ERRORS + bytesOfText(text) + bytesOfLines(text) + bytesOfTokens(document.loc?.startToken),
  }),
  errorCache: new LRUCache({
    maxSize: maxErrorBytes,
    sizeCalculation: ({ message }, text) => bytesOfText(text) + bytesOfText(message),
  }),
});

/** Two bytes per character: text from a request is rarely pure ASCII to V8. */
const bytesOfText = (text: string): number => BYTES_PER_ENTRY + 2 * text.length;

function bytesOfLines(text: string): number {
  let breaks = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    breaks += Number(code === LINE_FEED || code === CARRIAGE_RETURN);
  }
  return breaks * BYTES_PER_LINE;
}

function bytesOfTokens(first: Token | undefined): number {
  let bytes = 0;
  for (let token: Token | null | undefined = first; token != null; token = token.next) {
    bytes += token.kind === TokenKind.COMMENT ? BYTES_PER_COMMENT : BYTES_PER_TOKEN;
  }
  return bytes;
}
