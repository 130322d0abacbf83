// Looks up trusted documents by id or text, and rejects or logs others.

import { Kind, parse } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import { type Refusal, refuse } from '../errors/codes.ts';
import { orUndefined } from '../lib/caught.ts';
import { isRecord, recordOf } from '../lib/is-record.ts';
import { limitLines } from '../lib/log-limits.ts';
import { memoize, memoizeByObject } from '../lib/memoize.ts';
import type { GatewaySettings, TrustedDocumentsMode } from '../settings/settings.ts';
import { createManifestFiles, type Manifest, type ManifestFiles, sha256Of, withoutHashPrefix } from './manifest.ts';
import { MAX_CHARACTERS, MAX_TOKENS } from './operations/limits.ts';

interface TrustedDocument {
  text: string;
  hash: string;
}

/** Document to execute. Without a hash, it is in no manifest, or was not looked up. */
type FoundDocument = Pick<TrustedDocument, 'text'> & Partial<TrustedDocument>;

/** Maximum lines per minute about unlisted documents. */
const MAX_LINES = 100;

/** Maximum documents that are not logged again. */
const MAX_LOGGED = 10_000;

const MAX_NORMALIZED = 100;

/** Request for a document: its text, its id, or both. */
export interface DocumentRequest {
  query: string | undefined;
  documentId: string | undefined;
  /** May contain Apollo's form of an id: `persistedQuery.sha256Hash`. */
  extensions: Readonly<Record<string, unknown>> | undefined;
}

const UNKNOWN_ID = refuse(
  'PERSISTED_QUERY_NOT_FOUND',
  'No manifest of this gateway contains a document with this id. Add the manifest of the app to the gateway.',
);

/** Looks up trusted documents. Follows changes of the manifests. */
export class TrustedDocuments {
  readonly files: readonly ManifestFiles[];
  readonly #indexOf = memoizeByObject(createIndex);
  readonly #normalize = memoize(normalizeDocument, MAX_NORMALIZED);
  readonly #unknownHash: Refusal;
  readonly #logger: Logger;
  readonly #logged = new LRUCache<string, true>({ max: MAX_LOGGED });
  readonly #mayLog: (document: string) => boolean;

  /**
   * @param tools documents of the tools for AI agents, if there are any
   * @param monotonicNow returns the time in milliseconds. @default performance.now
   * @throws {ManifestError} if a manifest cannot be used
   */
  constructor(
    { trustedDocuments: { manifests } }: Pick<GatewaySettings, 'trustedDocuments'>,
    tools: ManifestFiles | undefined,
    logger: Logger,
    monotonicNow = () => performance.now(),
  ) {
    const ofApps = createManifestFiles(manifests, (all) => {
      const documents = all.reduce((sum, manifest) => sum + Object.keys(manifest).length, 0);
      logger.info({ documents }, 'the trusted documents were reloaded');
    });
    this.files = tools === undefined ? [ofApps] : [ofApps, tools];
    // Clients compare these messages, and send the text or no more hashes.
    this.#unknownHash =
      manifests.length > 0
        ? refuse('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
        : refuse('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
    this.#logger = logger;
    this.#mayLog = limitLines(MAX_LINES, monotonicNow);
  }

  /** Logs once that a document in no manifest was served. Call it only for valid documents of verified callers: others can invent any number. */
  logUnlisted(text: string, operation: string, clientKind: string): void {
    const document = sha256Of(text);
    if (!this.#logged.get(document) && this.#mayLog(document)) {
      this.#logged.set(document, true);
      this.#logger.warn({ clientKind, document, operation }, 'a document that is in no manifest was served');
    }
  }

  /** Returns the SHA-256 of the document with this id. */
  hashOf(id: string): string | undefined {
    return this.#findIn('byId', withoutHashPrefix(id))?.hash;
  }

  /**
   * Finds the document to execute.
   *
   * @throws {Refusal} BAD_REQUEST, PERSISTED_QUERY_NOT_FOUND, PERSISTED_QUERY_NOT_SUPPORTED or DOCUMENT_NOT_TRUSTED
   */
  find(
    { query, documentId, extensions }: DocumentRequest,
    mode: TrustedDocumentsMode,
    documents: Identity['documents'],
  ): FoundDocument {
    const id = documentId ?? recordOf(extensions?.persistedQuery).sha256Hash ?? undefined; // Or in Apollo's form.
    if (id === undefined && query === undefined) {
      throw refuse('BAD_REQUEST', 'The request has no "query".');
    }
    const hasOnlyText = id === undefined && query !== undefined;
    if (hasOnlyText && mode === 'off' && documents === undefined) {
      return { text: query };
    }
    const found = hasOnlyText ? this.#findByText(query) : this.#findByIdAndText(id, query, documentId === undefined);
    const { hash } = found;
    if (documents !== undefined && (hash === undefined || !documents.has(hash))) {
      throw refuse('DOCUMENT_NOT_TRUSTED', 'This token does not permit this document.');
    }
    if (hash === undefined && mode === 'enforce') {
      throw refuse(
        'DOCUMENT_NOT_TRUSTED',
        'This gateway accepts only trusted documents, and this one is in no manifest.',
      );
    }
    return found;
  }

  /** Finds a document by its id. If the request has a text too, the id must be its SHA-256. */
  #findByIdAndText(id: unknown, query: string | undefined, isApollo: boolean): FoundDocument {
    if (typeof id !== 'string') {
      throw refuse('BAD_REQUEST', 'The id of a document must be a string.');
    }
    if (query === undefined) {
      const listed = this.#findIn('byId', withoutHashPrefix(id));
      if (listed === undefined) {
        throw isApollo ? this.#unknownHash : UNKNOWN_ID;
      }
      return listed;
    }
    if (sha256Of(query) !== withoutHashPrefix(id)) {
      throw refuse(
        'BAD_REQUEST',
        'A request with both a document and an id must use the SHA-256 of the document as the id.',
      );
    }
    return this.#findByText(query);
  }

  /** Returns the listed document with this text, or with one that means the same: code generators sort what they hash. */
  #findByText(text: string): FoundDocument {
    const listed =
      this.#findIn('byText', text) ??
      (text.length > MAX_CHARACTERS ? undefined : this.#findIn('byNormalized', this.#normalize(text)));
    return listed ?? { text };
  }

  #findIn(by: 'byId' | 'byText' | 'byNormalized', key: string): TrustedDocument | undefined {
    return this.files.flatMap((files) => this.#indexOf(files.manifests())[by].get(key) ?? [])[0];
  }
}

/** Indexes the documents by text, as it is and normalized, by id and by SHA-256. */
function createIndex(manifests: readonly Manifest[]) {
  const byId = new Map<string, TrustedDocument>();
  const byText = new Map<string, TrustedDocument>();
  const byNormalized = new Map<string, TrustedDocument>();
  for (const [id, text] of manifests.flatMap((manifest) => Object.entries(manifest))) {
    const normalized = normalizeDocument(text);
    const same = byNormalized.get(normalized); // The same document can be listed in several formats.
    const listed = { text, hash: same?.hash ?? sha256Of(text) };
    byText.set(text, listed);
    byNormalized.set(normalized, same ?? listed);
    byId.set(sha256Of(text), listed).set(withoutHashPrefix(id), listed);
  }
  return { byId, byText, byNormalized };
}

/** Lists of nodes whose order has no meaning. */
const UNORDERED = /^(?:arguments|definitions|directives|selections|variableDefinitions)$/;

/** Returns the same text for documents that differ only in an order, or in characters, without meaning; other texts unchanged. */
const normalizeDocument = (text: string): string =>
  orUndefined(() => writeNode(parse(text, { noLocation: true, maxTokens: MAX_TOKENS }))) ?? text;

/** @param isSerial whether the node selects fields of `Mutation`, which run in their order */
function writeNode(node: unknown, name = '', isSerial = false): string {
  if (Array.isArray(node)) {
    const items = node.map((item) => writeNode(item, '', isSerial));
    return `[${(UNORDERED.test(name) && !(isSerial && name === 'selections') ? items.sort() : items).join()}]`;
  }
  if (!isRecord(node)) {
    return JSON.stringify(node) ?? '';
  }
  const type = recordOf(recordOf(node.typeCondition).name).value;
  const isMutation = node.operation === 'mutation' || type === 'Mutation' || (isSerial && node.kind !== Kind.FIELD);
  return `{${Object.entries(node).map(([member, value]) => `${member}:${writeNode(value, member, isMutation)}`)}}`;
}
