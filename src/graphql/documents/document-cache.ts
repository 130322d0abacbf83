import { type DocumentNode, type Token, TokenKind } from 'graphql';
import { LRUCache } from 'lru-cache';

/** Limits of the document caches, in bytes of heap. */
export interface DocumentCacheOptions {
  /** Maximum size of parsed documents. @default 20 MiB */
  maxDocumentBytes?: number;
  /** Maximum size of syntax errors. @default 2 MiB */
  maxErrorBytes?: number;
}

/** Caches for Yoga's parser, keyed by the text of the document. */
export interface DocumentCaches {
  documentCache: LRUCache<string, DocumentNode>;
  errorCache: LRUCache<string, Error>;
}

const MIB = 1024 * 1024;

/** Heap of a node with its location and token. Measured: 240 to 510 bytes per token, depending on the document. */
const BYTES_PER_TOKEN = 520;

/** Heap of a comment, which has a token but no node. */
const BYTES_PER_COMMENT = 120;

/** Heap per line of the index of line breaks, which is kept for documents whose errors were located. */
const BYTES_PER_LINE = 12;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Heap of the validation errors kept with a document: at most 5, with messages of 300 characters. */
const BYTES_OF_ERRORS = 4_096;

/** Heap of a cache entry, besides its text. */
const BYTES_PER_ENTRY = 2_048;

/**
 * Creates caches limited by bytes. Yoga's default caches count entries: 1,100 anonymous documents of 32 KB grew the heap from 32 to
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

/** Assumes two bytes per character, because V8 rarely stores text of requests with one byte. */
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
