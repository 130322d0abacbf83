import { X509Certificate } from 'node:crypto';
import { caught } from './caught.ts';

/** One certificate of several in a text. */
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

const isCertificate = (text: string): boolean => caught(Error, () => new X509Certificate(text)) === undefined;
