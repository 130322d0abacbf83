import { createManifestFiles } from '../../graphql/documents/manifest-files.ts';
import { findDocumentProblem } from '../../graphql/documents/use-document-limits.ts';
import { createSchema } from '../../graphql/schema.ts';
import type { CheckedConfig } from '../config/load-config.ts';
import type { Problem } from '../config/problem.ts';

/** Maximum number of documents that are named. */
const MAX_WARNINGS = 20;

/**
 * Returns a warning for each trusted document that would be rejected, and one if there are no documents but only those are served. A gateway starts
 * nevertheless, because it also serves apps that were released before or after it.
 */
export function findDocumentWarnings({ config, locate }: CheckedConfig): Problem[] {
  const { clients } = config;
  const { manifests } = config.trustedDocuments;
  const documents = manifests.flatMap((manifest, index) =>
    createManifestFiles([manifest])
      .manifests()
      .flatMap((texts) => Object.entries(texts).map(([id, text]) => ({ index, id, text }))),
  );
  if (documents.length === 0) {
    const isEnforced = [clients.server, clients.browser].some(
      (client) => client && client.trustedDocuments === 'enforce',
    );
    const { place, name } = locate(['trustedDocuments', 'manifests']);
    return isEnforced ? [{ place, sentence: `${name} contain no document, so all operations are rejected.` }] : [];
  }
  const schema = createSchema(config);
  const warnings = documents.flatMap(({ index, id, text }): Problem[] => {
    const problem = findDocumentProblem(schema, text, config);
    const { place, name } = locate(['trustedDocuments', 'manifests', index]);
    return problem === undefined
      ? []
      : [{ place, sentence: `${name}: the document ${nameOf(id, text)} is rejected: ${problem}` }];
  });
  const { length } = warnings;
  return length <= MAX_WARNINGS
    ? warnings
    : [
        ...warnings.slice(0, MAX_WARNINGS),
        { sentence: `${length - MAX_WARNINGS} more trusted documents are rejected.` },
      ];
}

/** Returns the name of a document's operation, or the beginning of its id. */
const nameOf = (id: string, text: string): string =>
  /^\s*(?:query|mutation)\s+(\w+)/m.exec(text)?.[1] ?? (id.length > 20 ? `${id.slice(0, 20)}…` : id);
