// Reads certificates in PEM.

import { X509Certificate } from 'node:crypto';
import { caught } from '../lib/caught.ts';

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
export const lastExpiryOf = (text: string): number =>
  Math.max(...(text.match(CERTIFICATE) ?? []).map((each) => new X509Certificate(each).validToDate.getTime() / 1_000));

const isCertificate = (text: string): boolean => caught(Error, () => new X509Certificate(text)) === undefined;
