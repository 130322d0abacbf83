// Connects to the service as the gateway does, and explains why that fails.

import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import { errorCodeOf } from '../../../../src/lib/caught.ts';
import { addressOf, isLoopbackHost, portOf } from '../../../../src/lib/urls.ts';
import { ProxyError } from '../../../../src/upstream/service.ts';
import { EndingProblem, type Finding, note, ok, type ReportFinding, warning } from './finding.ts';
import type { Session } from './session.ts';

/** Days before its end at which a certificate should have been renewed. */
const RENEWAL_DAYS = 30;

const DAY_MS = 86_400_000;

/** Remedies for rejected certificates, by the beginning of the error codes of Node.js and OpenSSL. */
const CERTIFICATE_REMEDIES: readonly [code: RegExp, remedy: string][] = [
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

/** Connects as the gateway does, and examines the certificate. Sends nothing on the connection. @throws {EndingProblem} if the gateway couldn't connect */
export async function examineConnection({ service }: Session, report: ReportFinding): Promise<void> {
  const { proxy, upstreamUrl: url } = service.settings;
  if (proxy !== undefined && proxy !== 'off') {
    report(note(`Connections go through the proxy ${new URL(proxy).host}, which resolves the name.`));
  }
  const startedAt = performance.now();
  let socket: Socket;
  try {
    socket = await service.connect();
  } catch (error) {
    throw explainFailure(url, error);
  }
  const ms = (performance.now() - startedAt).toFixed(1);
  const protocol = socket instanceof TLSSocket ? ` with ${socket.getProtocol()}` : '';
  report(ok(`Port ${portOf(url)} accepts connections${protocol} (${ms} ms).`));
  if (socket instanceof TLSSocket) {
    report(examineExpiry(socket.getPeerCertificate()));
  } else if (!isLoopbackHost(url.hostname)) {
    report(warning('The address begins with http://, so API keys are sent unencrypted.', 'Use https://.'));
  }
  socket.destroy();
}

function explainFailure(url: URL, error: unknown): EndingProblem {
  if (error instanceof ProxyError) {
    return new EndingProblem(
      `There is no connection: ${error.message}.`,
      'Check the setting proxy, HTTPS_PROXY and NO_PROXY, and the log of the proxy.',
    );
  }
  const host = addressOf(url);
  const code = String(errorCodeOf(error) ?? 'unknown error');
  const [, remedy] = CERTIFICATE_REMEDIES.find(([pattern]) => pattern.test(code)) ?? [];
  if (remedy !== undefined) {
    return new EndingProblem(`The certificate of ${host} is rejected (${code}).`, remedy);
  }
  if (/^(?:ENOTFOUND|EAI_)/.test(code)) {
    return new EndingProblem(
      `The name ${host} can't be resolved (${code}).`,
      'Check its spelling, and the DNS of this machine or container.',
    );
  }
  if (/^(?:EPROTO|ECONNRESET|ERR_SSL_|ERR_TLS_)/.test(code)) {
    return new EndingProblem(
      `There is no TLS connection to ${host} (${code}).`,
      'Check that the port serves https, with TLS 1.2 or 1.3.',
    );
  }
  return new EndingProblem(
    `${host} can't be reached on port ${portOf(url)} (${code}).`,
    code === 'ECONNREFUSED'
      ? 'Check the port, and that the service is running.'
      : 'Check the address, and firewalls, network policies and proxies between this machine and the service.',
  );
}

function examineExpiry({ valid_to }: PeerCertificate): Finding {
  const end = new Date(valid_to);
  const days = Math.floor((end.getTime() - Date.now()) / DAY_MS);
  if (Number.isNaN(days)) {
    return note('The certificate has no readable end.');
  }
  const sentence = `The certificate is valid until ${end.toISOString().slice(0, 10)}, for ${days} more days.`;
  return days < RENEWAL_DAYS ? warning(sentence, 'Renew it.') : ok(sentence);
}
