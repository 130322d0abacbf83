// Looks up trusted documents by id or text, and rejects or logs others.

import { stripIgnoredCharacters } from 'graphql';
import type { Logger } from 'pino';
import { refuse } from '../../errors/codes.ts';
import { orUndefined } from '../../lib/caught.ts';
import { isRecord } from '../../lib/is-record.ts';
import { memoize, memoizeBySource } from '../../lib/memoize.ts';
import type { TrustedDocumentsMode } from '../../settings/clients.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import { MAX_CHARACTERS } from './limits.ts';
import { type Manifest, type ManifestFiles, sha256Of, withoutHashPrefix } from './manifest.ts';

export type TrustedDocuments = ReturnType<typeof createTrustedDocuments>;

interface TrustedDocument {
  text: string;
  hash: string;
}

/** Maximum unlisted documents to log; each is logged once. */
const MAX_LOGGED = 1_000;

const MAX_STRIPPED = 100;

/** Creates the lookup. It follows changes of the manifests. */
export function createTrustedDocuments(
  sources: readonly Pick<ManifestFiles, 'manifests'>[],
  { trustedDocuments }: Pick<GatewaySettings, 'trustedDocuments'>,
  logger: Logger,
) {
  const indexes = sources.map((files) => memoizeBySource(() => files.manifests(), createIndex));
  const loggedHashes = new Set<string>();
  const strip = memoize(withoutIgnored, MAX_STRIPPED);
  const unknownId = refuse(
    'PERSISTED_QUERY_NOT_FOUND',
    'No manifest of this gateway contains a document with this id. Add the manifest of the app to the gateway.',
  );
  // Clients compare these messages, and send the text or no more hashes.
  const unknownHash =
    trustedDocuments.manifests.length > 0
      ? refuse('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
      : refuse('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');

  const findIn = (by: 'byId' | 'byText' | 'byStripped', key: string): TrustedDocument | undefined => {
    for (const currentIndex of indexes) {
      const found = currentIndex()[by].get(key);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  };

  /** Returns the listed document with this text, or with one that differs only in characters without meaning, such as line breaks. */
  const findByText = (text: string): { text: string; hash?: string } =>
    findIn('byText', text) ??
    (text.length > MAX_CHARACTERS ? undefined : findIn('byStripped', strip(text))) ?? { text };

  /** Finds a document by its id. If the request has a text too, the id must be its SHA-256. */
  function findByIdAndText(id: unknown, query: string | undefined, isApollo: boolean): { text: string; hash?: string } {
    if (typeof id !== 'string') {
      throw refuse('BAD_REQUEST', 'The id of a document must be a string.');
    }
    if (query === undefined) {
      const listed = findIn('byId', withoutHashPrefix(id));
      if (listed === undefined) {
        throw isApollo ? unknownHash : unknownId;
      }
      return listed;
    }
    if (sha256Of(query) !== withoutHashPrefix(id)) {
      throw refuse(
        'BAD_REQUEST',
        'A request with both a document and an id must use the SHA-256 of the document as the id.',
      );
    }
    return findByText(query);
  }

  function logUnlisted(text: string, clientKind: string): void {
    const hash = sha256Of(text);
    if (!loggedHashes.has(hash) && loggedHashes.size < MAX_LOGGED) {
      loggedHashes.add(hash);
      const operation = /\b(?:query|mutation)\s+(\w{1,100})/.exec(text)?.[1];
      logger.warn({ clientKind, document: hash, operation }, 'a document that is in no manifest was served');
    }
  }

  return {
    /** Returns the SHA-256 of the document with this id. */
    hashOf: (id: string): string | undefined => findIn('byId', withoutHashPrefix(id))?.hash,
    /**
     * Finds the text to execute.
     *
     * @throws {Refusal} BAD_REQUEST, PERSISTED_QUERY_NOT_FOUND, PERSISTED_QUERY_NOT_SUPPORTED or DOCUMENT_NOT_TRUSTED
     */
    find(
      {
        query,
        documentId,
        extensions,
      }: {
        query: string | undefined;
        documentId: string | undefined;
        /** May contain Apollo's form of an id: `persistedQuery.sha256Hash`. */
        extensions: Readonly<Record<string, unknown>> | undefined;
      },
      {
        clientKind,
        mode,
        documents,
      }: {
        clientKind: string;
        mode: TrustedDocumentsMode;
        /** SHA-256 of the documents that the caller's token permits; undefined if it permits all. */
        documents: ReadonlySet<string> | undefined;
      },
    ): string {
      const id = documentId ?? hashIn(extensions) ?? undefined;
      const isRestricted = mode !== 'off' || documents !== undefined;
      if (id === undefined && query === undefined) {
        throw refuse('BAD_REQUEST', 'The request has no "query".');
      }
      if (id === undefined && query !== undefined && !isRestricted) {
        return query;
      }
      const { text, hash } =
        query !== undefined && id === undefined
          ? findByText(query)
          : findByIdAndText(id, query, documentId === undefined);
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
        logUnlisted(text, clientKind);
      }
      return text;
    },
  };
}

/** Indexes the documents by text, with and without ignored characters, by id and by SHA-256. */
function createIndex(manifests: readonly Manifest[]) {
  const byId = new Map<string, TrustedDocument>();
  const byText = new Map<string, TrustedDocument>();
  const byStripped = new Map<string, TrustedDocument>();
  for (const [id, text] of manifests.flatMap((manifest) => Object.entries(manifest))) {
    const stripped = withoutIgnored(text);
    const listed = byStripped.get(stripped) ?? { text, hash: sha256Of(text) }; // The same document can be listed in several formats.
    byText.set(text, listed);
    byStripped.set(stripped, listed);
    byId.set(sha256Of(text), listed).set(withoutHashPrefix(id), listed);
  }
  return { byId, byText, byStripped };
}

/** Returns a document without characters that have no meaning; other texts unchanged. */
const withoutIgnored = (text: string): string => orUndefined(() => stripIgnoredCharacters(text)) ?? text;

/** Returns the id in Apollo's form, if any. */
const hashIn = (extensions: unknown): unknown =>
  isRecord(extensions) && isRecord(extensions.persistedQuery) ? extensions.persistedQuery.sha256Hash : undefined;
