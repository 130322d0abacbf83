// Reads certificates and the private key of connections to the service, again when they change, and checks certificates in PEM.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { WatchedFiles } from '../files/file-watcher.ts';
import {
  checkEach,
  createSecretFiles,
  problemsOf,
  type Secret,
  SecretError,
  type SourceProblem,
} from '../files/secret-files.ts';
import { caught } from '../lib/caught.ts';
import type { TlsSettings } from '../settings/settings.ts';

export type TlsContexts = ReturnType<typeof toContexts>;

/** Certificates that can be replaced while the process runs. */
export interface TlsFiles extends WatchedFiles {
  /** Returns the current contexts: a new object after a change. */
  current(): TlsContexts;
}

/**
 * Reads the certificates of TLS connections.
 *
 * @param onCertificate called with the expiry of each client certificate that is used from now on
 * @throws {SecretError} if one is invalid, or the private key belongs to another certificate
 */
export function createTlsFiles(
  settings: Readonly<Partial<Record<keyof TlsSettings, Secret>>>,
  onCertificate: (expiry: Date) => void = () => {},
): TlsFiles {
  const files = createSecretFiles({ name: 'certificates', secrets: settings }, findPemProblem, () => {
    // A pair is replaced one file after the other. Until both have changed, this throws and the previous pair stays.
    current = toContexts(files.secrets(), onCertificate);
  });
  let current = toContexts(files.secrets(), onCertificate);
  return { ...files, current: () => current, expiresAt: () => current.expiresAt };
}

/** Returns the problems of the certificates of TLS connections. */
export const findTlsProblems = (settings: Parameters<typeof createTlsFiles>[0]): readonly SourceProblem[] =>
  problemsOf(() => createTlsFiles(settings));

/** Names the setting in the problems of reloads, because the log has no other place for it. */
export const nameProblems = (files: TlsFiles, settingOf: (name: string) => string): TlsFiles => ({
  ...files,
  look() {
    try {
      return files.look();
    } catch (error) {
      if (!(error instanceof SecretError)) {
        throw error;
      }
      const problems = error.problems.map(({ name = '', problem }) => ({ problem: `${settingOf(name)}: ${problem}` }));
      throw new SecretError(problems, { cause: error });
    }
  },
});

function toContexts(secrets: ReadonlyMap<string, string>, onCertificate: (expiry: Date) => void) {
  const [ca, cert, key] = ['ca', 'clientCertificate', 'clientKey'].map((name) => secrets.get(name));
  if (cert !== undefined && key !== undefined) {
    const certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) {
      throw new SecretError([
        { name: 'clientKey', problem: 'the private key does not belong to the client certificate' },
      ]);
    }
    onCertificate(certificate.validToDate);
  }
  const expiries = [ca, cert].flatMap((text) => (text === undefined ? [] : lastExpiryOf(text)));
  const trusted = ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] };
  return {
    /** For connections to the service: with the client certificate. */
    service: createSecureContext({ ...trusted, cert, key }),
    /** For connections to a proxy, which must not see the client certificate. */
    proxy: createSecureContext(trusted),
    /** Time at which one of the certificates expires, in seconds since the Unix epoch. */
    expiresAt: expiries.length === 0 ? undefined : Math.min(...expiries),
  };
}

/** Returns the first problem of the certificates and the key, without quoting them, or undefined. */
const findPemProblem = checkEach((text, name) =>
  name === 'clientKey' ? findKeyProblem(text) : findCertificateProblem(text),
);

function findKeyProblem(text: string): string | undefined {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text)) {
    return 'the private key has a passphrase; remove it';
  }
  return caught(Error, () => createPrivateKey(text)) && 'the private key is not valid PEM';
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Returns the problem of a text that is not one or more certificates in PEM, as a clause that doesn't quote it, or undefined. */
export function findCertificateProblem(text: string): string | undefined {
  const certificates = text.match(CERTIFICATE) ?? [];
  const announced = text.split('-----BEGIN ').length - 1;
  if (certificates.length === 0 || certificates.length < announced) {
    return 'the certificate is not valid PEM; only certificates may be in it';
  }
  return certificates.every(isCertificate) ? undefined : 'the certificate is not valid PEM';
}

/** Returns the time at which the last of several certificates in PEM expires, in seconds since the Unix epoch: an older authority can stay in a list. */
const lastExpiryOf = (text: string): number =>
  Math.max(...(text.match(CERTIFICATE) ?? []).map((each) => new X509Certificate(each).validToDate.getTime() / 1_000));

const isCertificate = (text: string): boolean => caught(Error, () => new X509Certificate(text)) === undefined;
