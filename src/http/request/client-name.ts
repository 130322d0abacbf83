// Reads the name that a client gives itself, for metrics and the log.

import type { IncomingRequest } from '../message.ts';

/** Name and version that a client gives itself, for metrics and the log. Not verified: any client can give any name. */
interface ClientName {
  /** Name of the app; undefined if it gave none, or none of the accepted form. */
  client: string | undefined;
  clientVersion: string | undefined;
}

/** Headers with the name and version. Apollo Client sends its own. */
const HEADERS = [
  ['x-graphql-client-name', 'x-graphql-client-version'],
  ['apollographql-client-name', 'apollographql-client-version'],
] as const;

/** Form of names and versions, such as `@acme/web` and `1.4.0-beta+5`. It excludes tokens and everything that needs escaping. */
const CLIENT_NAME_FORM = /^[\w@][\w .@/+:-]{0,63}$/;

const NO_NAME: ClientName = { client: undefined, clientVersion: undefined };

/** Reads the name and version of the client from the first pair of headers that has a name. */
export function readClientName(request: IncomingRequest): ClientName {
  for (const [nameHeader, versionHeader] of HEADERS) {
    const name = request.header(nameHeader);
    if (name !== undefined) {
      return { client: acceptable(name), clientVersion: acceptable(request.header(versionHeader)) };
    }
  }
  return NO_NAME;
}

const acceptable = (text: string | undefined): string | undefined =>
  text !== undefined && CLIENT_NAME_FORM.test(text) ? text : undefined;
