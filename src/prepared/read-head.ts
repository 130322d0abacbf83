import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '../audiences/authenticator.ts';
import type { Identity } from '../audiences/identity.ts';
import { isJsonType } from '../plugins/use-request-gate.ts';
import { createChooseMediaType } from './media-type.ts';

/** What is known of an ordinary request before its body is read. */
export interface Head {
  /** What its answer will be, with the charset. */
  mediaType: string;
  /** Who asks. */
  identity: Identity;
}

export interface ReadHeadOptions {
  /** The exact path of the GraphQL endpoint. */
  endpoint: string;
  /** The largest request body, in bytes. */
  maxBodyBytes: number;
  authenticator: Authenticator;
}

/** @returns a function that says undefined for a request which has to be looked at more closely, or refused */
export function createReadHead({ endpoint, maxBodyBytes, authenticator }: ReadHeadOptions) {
  const chooseMediaType = createChooseMediaType();

  return (request: IncomingMessage): Head | undefined => {
    const { method, url, headers } = request;
    const isOrdinary =
      method === 'POST' &&
      url === endpoint &&
      isJsonType(headers['content-type']) &&
      headers['content-encoding'] === undefined &&
      Number(headers['content-length']) <= maxBodyBytes; // False where there is none.
    const mediaType = isOrdinary ? chooseMediaType(headers.accept) : undefined;
    const identity = mediaType === undefined ? undefined : authenticator.known(headers.authorization);
    return mediaType === undefined || identity === undefined ? undefined : { mediaType, identity };
  };
}
