import type { IncomingMessage } from 'node:http';
import { isCredential } from '../credentials.ts';
import { isJsonType } from '../plugins/use-request-gate.ts';
import { createChooseMediaType } from './media-type.ts';

/** What is known of an ordinary request before its body is read. */
export interface Head {
  /** What its answer will be, with the charset. */
  mediaType: string;
  authorization: string | undefined;
}

export interface ReadHeadOptions {
  /** The exact path of the GraphQL endpoint. */
  endpoint: string;
  /** The largest request body, in bytes. */
  maxBodyBytes: number;
}

/** @returns a function that says undefined for a request which has to be looked at more closely, or refused */
export function createReadHead({ endpoint, maxBodyBytes }: ReadHeadOptions) {
  const chooseMediaType = createChooseMediaType();
  return ({ method, url, headers }: IncomingMessage): Head | undefined => {
    const { authorization } = headers;
    const isOrdinary =
      method === 'POST' &&
      url === endpoint &&
      isJsonType(headers['content-type']) &&
      headers['content-encoding'] === undefined &&
      Number(headers['content-length']) <= maxBodyBytes && // False where there is none.
      (authorization === undefined || isCredential(authorization));
    const mediaType = isOrdinary ? chooseMediaType(headers.accept) : undefined;
    return mediaType === undefined ? undefined : { mediaType, authorization };
  };
}
