import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import type { TrustedDocumentsMode } from '../audiences/audience-options.ts';
import { derive } from '../derive.ts';
import { isRecord } from '../is-record.ts';
import { type Manifest, sha256Of, withoutScheme } from './manifest.ts';
import type { ManifestFiles } from './manifest-files.ts';

/** What a request says about its document. */
export interface DocumentRequest {
  /** The document's text. */
  query?: unknown;
  /** The id of a trusted document. */
  documentId?: unknown;
  /** May hold Apollo's form of an id: `persistedQuery.sha256Hash`. */
  extensions?: unknown;
}

/** Who asks for it. */
export interface DocumentAsker {
  audience: string;
  mode: TrustedDocumentsMode;
  /** The only documents that may be sent, by their SHA-256; undefined: as the mode says. */
  documents: ReadonlySet<string> | undefined;
}

/** The documents of all manifests. */
export interface TrustedDocuments {
  /** The SHA-256 of the document that has this id. */
  hashOf(id: string): string | undefined;
  /**
   * Finds the text that shall be executed.
   *
   * @returns undefined when the request gives neither text nor id; an error for the client when it may not be executed
   */
  admit(request: DocumentRequest, asker: DocumentAsker): string | undefined | GraphQLError;
}

interface Listed {
  text: string;
  hash: string;
}

/** Unlisted documents that were noted in the log; each is noted once. */
const MAX_NOTED = 1_000;

export function createTrustedDocuments(files: ManifestFiles, logger: Logger): TrustedDocuments {
  const present = derive(() => files.manifests(), index);
  const noted = new Set<string>();

  function find(id: string): Listed {
    const listed = present().byId.get(withoutScheme(id));
    if (listed === undefined) {
      throw refusal(
        'PERSISTED_QUERY_NOT_FOUND',
        'No manifest of this gateway lists a document with this id: add the manifest that was built with the app to the gateway.',
      );
    }
    return listed;
  }

  /** The text with its SHA-256 where a manifest lists it. */
  function lookUp(query: unknown): { text: string; hash?: string } {
    const text = String(query);
    return present().byText.get(text) ?? { text };
  }

  /** By its id; a text beside it must be that document's. */
  function findNamed(id: unknown, query: unknown): { text: string; hash?: string } {
    if (typeof id !== 'string') {
      throw refusal('BAD_REQUEST', 'The id of a document must be a text.');
    }
    if (query == null) {
      return find(id);
    }
    if (typeof query !== 'string' || sha256Of(query) !== withoutScheme(id)) {
      throw refusal(
        'BAD_REQUEST',
        "A request that has both a document and an id must give the document's own SHA-256.",
      );
    }
    return lookUp(query);
  }

  function note(text: string, audience: string): void {
    const hash = sha256Of(text);
    if (!noted.has(hash) && noted.size < MAX_NOTED) {
      noted.add(hash);
      const operation = /\b(?:query|mutation)\s+(\w{1,100})/.exec(text)?.[1];
      logger.warn({ audience, document: hash, operation }, 'a document that is in no manifest was served');
    }
  }

  function choose({ query, documentId, extensions }: DocumentRequest, asker: DocumentAsker): string | undefined {
    const { audience, mode, documents } = asker;
    const id = documentId ?? hashIn(extensions) ?? undefined;
    const isRestricted = mode !== 'off' || documents !== undefined;
    if (id === undefined && (!isRestricted || typeof query !== 'string')) {
      return typeof query === 'string' ? query : undefined;
    }
    const { text, hash } = id === undefined ? lookUp(query) : findNamed(id, query);
    if (documents !== undefined && (hash === undefined || !documents.has(hash))) {
      throw refusal('DOCUMENT_NOT_TRUSTED', 'This token does not permit this document.');
    }
    if (hash === undefined && mode === 'enforce') {
      throw refusal(
        'DOCUMENT_NOT_TRUSTED',
        'This gateway serves trusted documents alone, and no manifest of it lists this one.',
      );
    }
    if (hash === undefined && mode === 'log') {
      note(text, audience);
    }
    return text;
  }

  return {
    hashOf: (id) => present().byId.get(withoutScheme(id))?.hash,
    admit(request, asker) {
      try {
        return choose(request, asker);
      } catch (error) {
        if (error instanceof GraphQLError) {
          return error;
        }
        throw error;
      }
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

const refusal = (code: string, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code, http: { status: 400 } } });
