import type { Logger } from 'pino';
import { isRecord } from '../../lib/is-record.ts';
import { memoizeBySource } from '../../lib/memoize.ts';
import type { TrustedDocumentsMode } from '../../settings/clients.ts';
import { refuse } from '../../settings/refuse.ts';
import { type Manifest, sha256Of, withoutScheme } from './manifest.ts';
import type { ManifestFiles } from './manifest-files.ts';

/** Parameters of a request that identify its document. */
export interface DocumentRequest {
  /** Text of the document. */
  query: string | undefined;
  /** Id of a trusted document. */
  documentId: string | undefined;
  /** May contain Apollo's form of an id: `persistedQuery.sha256Hash`. */
  extensions: Readonly<Record<string, unknown>> | undefined;
}

/** Caller of a document, with the rules that apply to it. */
export interface DocumentAsker {
  clientKind: string;
  mode: TrustedDocumentsMode;
  /** The only documents that may be sent, by their SHA-256; undefined: as the mode says. */
  documents: ReadonlySet<string> | undefined;
}

/** The documents of all manifests. */
export interface TrustedDocuments {
  /** The SHA-256 of the document that has this id. */
  hashOf(id: string): string | undefined;
  /**
   * Finds the text to execute.
   *
   * @throws {Refusal} BAD_REQUEST, PERSISTED_QUERY_NOT_FOUND or DOCUMENT_NOT_TRUSTED
   */
  find(request: DocumentRequest, asker: DocumentAsker): string;
}

interface Listed {
  text: string;
  hash: string;
}

/** Unlisted documents that were noted in the log; each is noted once. */
const MAX_NOTED = 1_000;

export function createTrustedDocuments(files: ManifestFiles, logger: Logger): TrustedDocuments {
  const present = memoizeBySource(() => files.manifests(), index);
  const noted = new Set<string>();

  function findById(id: string): Listed {
    const listed = present().byId.get(withoutScheme(id));
    if (listed === undefined) {
      throw refuse(
        'PERSISTED_QUERY_NOT_FOUND',
        'No manifest of this gateway contains a document with this id. Add the manifest of the app to the gateway.',
      );
    }
    return listed;
  }

  /** Returns the text with its SHA-256 if a manifest contains it. */
  const findByText = (text: string): { text: string; hash?: string } => present().byText.get(text) ?? { text };

  /** Finds a document by its id; a text beside the id must be that document's. */
  function findNamed(id: unknown, query: string | undefined): { text: string; hash?: string } {
    if (typeof id !== 'string') {
      throw refuse('BAD_REQUEST', 'The id of a document must be a string.');
    }
    if (query === undefined) {
      return findById(id);
    }
    if (sha256Of(query) !== withoutScheme(id)) {
      throw refuse('BAD_REQUEST', "A request with both a document and an id must send the document's own SHA-256.");
    }
    return findByText(query);
  }

  function note(text: string, clientKind: string): void {
    const hash = sha256Of(text);
    if (!noted.has(hash) && noted.size < MAX_NOTED) {
      noted.add(hash);
      const operation = /\b(?:query|mutation)\s+(\w{1,100})/.exec(text)?.[1];
      logger.warn({ clientKind, document: hash, operation }, 'a document that is in no manifest was served');
    }
  }

  return {
    hashOf: (id) => present().byId.get(withoutScheme(id))?.hash,
    find({ query, documentId, extensions }, { clientKind, mode, documents }) {
      const id = documentId ?? hashIn(extensions) ?? undefined;
      const isRestricted = mode !== 'off' || documents !== undefined;
      if (id === undefined && query === undefined) {
        throw refuse('BAD_REQUEST', 'The request has no "query".');
      }
      if (id === undefined && query !== undefined && !isRestricted) {
        return query;
      }
      const { text, hash } = query !== undefined && id === undefined ? findByText(query) : findNamed(id, query);
      if (documents !== undefined && (hash === undefined || !documents.has(hash))) {
        throw refuse('DOCUMENT_NOT_TRUSTED', 'This token does not permit this document.');
      }
      if (hash === undefined && mode === 'enforce') {
        throw refuse(
          'DOCUMENT_NOT_TRUSTED',
          'This gateway accepts only trusted documents, and this one is in no manifest.',
        );
      }
      if (hash === undefined && mode === 'log') {
        note(text, clientKind);
      }
      return text;
    },
  };
}

/** By every id, that of its SHA-256 too, and by its text. */
function index(manifests: readonly Manifest[]) {
  const byId = new Map<string, Listed>();
  const byText = new Map<string, Listed>();
  for (const [id, text] of manifests.flatMap((manifest) => Object.entries(manifest))) {
    const listed = byText.get(text) ?? { text, hash: sha256Of(text) };
    byText.set(text, listed);
    byId.set(listed.hash, listed).set(withoutScheme(id), listed);
  }
  return { byId, byText };
}

/** Apollo's form of an id. */
const hashIn = (extensions: unknown): unknown =>
  isRecord(extensions) && isRecord(extensions.persistedQuery) ? extensions.persistedQuery.sha256Hash : undefined;
