import type { PeerCertificate } from 'node:tls';
import { type Finding, note, ok, problem, warning } from './finding.ts';

/** Days before its end at which a certificate should have been renewed. */
const RENEWAL_DAYS = 30;

const DAY_MS = 86_400_000;

/** Remedies for the errors of Node.js and OpenSSL, by the beginning of their codes. */
const REMEDIES: readonly [code: RegExp, remedy: string][] = [
  [
    /^(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT)/,
    'The service must also send the intermediate certificates. If its authority is private, set tls.ca.',
  ],
  [
    /^(?:DEPTH_ZERO_)?SELF_SIGNED_CERT/,
    'If the certificate or its authority is private, set tls.ca, or start with NODE_EXTRA_CA_CERTS=<file>.',
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID/, 'Use a name that the certificate contains, or renew it with this name.'],
  [/^CERT_HAS_EXPIRED/, 'Renew the certificate of the service.'],
  [/^CERT_NOT_YET_VALID/, 'Check the clock of this machine, and from when the certificate is valid.'],
  [/^CERT_|^UNABLE_TO_/, 'Check the certificate of the service.'],
];

/** Returns the finding for a certificate that is rejected; undefined if the error is another one. */
export function explainRejection(code: string, host: string): Finding | undefined {
  const [, remedy] = REMEDIES.find(([known]) => known.test(code)) ?? [];
  return remedy === undefined ? undefined : problem(`The certificate of ${host} is rejected (${code}).`, remedy);
}

/** Checks that a certificate doesn't expire soon. */
export function examineExpiry({ valid_to }: PeerCertificate, now: Date): Finding {
  const end = new Date(valid_to);
  const days = Math.floor((end.getTime() - now.getTime()) / DAY_MS);
  if (Number.isNaN(days)) {
    return note('The certificate has no readable end.');
  }
  const sentence = `The certificate is valid until ${end.toISOString().slice(0, 10)}, for ${days} more days.`;
  return days < RENEWAL_DAYS ? warning(sentence, 'Renew it.') : ok(sentence);
}
