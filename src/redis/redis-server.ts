// Reads and checks the address of Redis and its certificates.

import { getCACertificates } from 'node:tls';
import { findCertificateProblem } from '../lib/certificates.ts';
import {
  createSecretFiles,
  findSecretProblems,
  type Secret,
  type SecretProblem,
  type SourceProblem,
} from '../lib/files/secret-files.ts';
import { findRedisUrlProblem } from '../settings/stores.ts';

export interface RedisServer {
  /** URL such as `redis://user:password@host:6379/0`, or `rediss://…` for TLS. */
  url: Secret;
  /** Certificates of private authorities in PEM, trusted in addition to those of Node.js. @default none */
  ca?: Secret | undefined;
}

/**
 * Reads where the server is, and whom to trust.
 *
 * @throws {SecretError} if a file can't be read, or its content is invalid
 */
export function readRedisServer(server: RedisServer): { url: string; ca?: string[] } {
  const secrets = createSecretFiles({ secrets: secretsOf(server) }, findProblem).secrets();
  const ca = secrets.get('ca');
  return {
    url: secrets.get('url') ?? '',
    ...(ca !== undefined && { ca: [...getCACertificates('default'), ca] }),
  };
}

export const findRedisServerProblems = (server: RedisServer): readonly SourceProblem[] =>
  findSecretProblems({ secrets: secretsOf(server) }, findProblem);

const secretsOf = ({ url, ca }: RedisServer): Record<string, Secret> => ({ url, ...(ca !== undefined && { ca }) });

function findProblem(secrets: ReadonlyMap<string, string>): SecretProblem | undefined {
  const [url, ca] = [secrets.get('url'), secrets.get('ca')];
  const problemOfUrl = url === undefined ? undefined : findRedisUrlProblem(url);
  if (problemOfUrl !== undefined) {
    return { name: 'url', problem: `the URL of Redis ${problemOfUrl}` };
  }
  if (ca === undefined) {
    return undefined;
  }
  if (url?.startsWith('rediss:') === false) {
    return { name: 'ca', problem: 'the URL of Redis must be a URL rediss://…, because ca is set' };
  }
  const problemOfCa = findCertificateProblem(ca);
  return problemOfCa === undefined ? undefined : { name: 'ca', problem: problemOfCa };
}
