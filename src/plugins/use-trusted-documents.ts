import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { AudiencePolicies } from '../audiences/policies.ts';
import type { ServerContext } from '../context.ts';
import type { TrustedDocuments } from '../trusted-documents/trusted-documents.ts';

export interface TrustedDocumentsPluginOptions {
  documents: TrustedDocuments;
  policies: AudiencePolicies;
}

/** Finds the text of a document that is asked for by its id, and refuses what the audience may not send. */
export const useTrustedDocuments = ({
  documents,
  policies,
}: TrustedDocumentsPluginOptions): Plugin<object, ServerContext> => ({
  onParams({ request, params, setParams, context: { identity } }) {
    if (identity === undefined) {
      return;
    }
    const { documentId, ...others } = withDocumentId(params, request);
    const query = documents.admit(
      { ...others, documentId },
      {
        audience: identity.audience,
        mode: policies[identity.audience].trustedDocuments,
        documents: identity.documents,
      },
    );
    if (query instanceof GraphQLError) {
      throw query;
    }
    setParams(query === undefined ? others : { ...others, query });
  },
});

/** Yoga reads four parameters of a URL; the id is not one of them. */
function withDocumentId(params: GraphQLParams & { documentId?: unknown }, { method, url }: Request) {
  const documentId = method === 'GET' ? URL.parse(url, 'http://localhost')?.searchParams.get('documentId') : null;
  return documentId == null ? params : { ...params, documentId };
}
