// Sends single reads to the service that is examined. They can't change anything.

import { listNotificationGroups } from '../../../../src/upstream/endpoints.ts';
import { NoResponse, openService, type SingleRead, type SingleResponse } from '../../../../src/upstream/service.ts';
import type { ServiceSettings } from '../find-service.ts';
import { EndingProblem } from './finding.ts';

/** Service that is examined, with the time limits of the configuration. */
export type Session = ReturnType<typeof openSession>;

export function openSession(url: URL, settings: ServiceSettings, credential: string | undefined) {
  const service = openService(url, settings);

  /** Sends a read once. @throws {EndingProblem} if there is no response */
  const get = (read: SingleRead): Promise<SingleResponse> =>
    service.readOnce({ credential, ...read }).catch((error: unknown) => {
      throw error instanceof NoResponse
        ? new EndingProblem(
            `GET ${read.endpoint.route}: ${error.message}`,
            'Check the service, its log, and what is in front of it.',
          )
        : error;
    });
  return { service, get, [Symbol.asyncDispose]: () => service.close() };
}

/** The read of the contract that takes no parameters. */
export const LIST: SingleRead = { endpoint: listNotificationGroups };
