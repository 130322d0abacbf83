import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { errorCodeOf } from '../../lib/error-code.ts';
import { addressOf, isLoopbackHost, portOf } from '../../lib/urls.ts';
import { ProxyError } from '../../upstream/transport/proxy-tunnel.ts';
import { examineExpiry, explainRejection } from './certificate.ts';
import { type Finding, note, ok, problem, warning } from './finding.ts';
import type { Session } from './session.ts';

/** Result of a connection attempt. */
type Attempt<Result> = { value: Result; ms: number } | { code: string; error?: unknown };

/**
 * Resolves the service's name, connects as the gateway does, and examines the certificate. Sends nothing on the connection.
 *
 * @returns whether the gateway could connect
 */
export async function* examineConnection(session: Session, now: Date): AsyncGenerator<Finding, boolean> {
  const { url, settings } = session;
  const { proxy } = settings;
  const isTls = url.protocol === 'https:';
  if (proxy === undefined || proxy === 'off') {
    if (!(yield* examineAddress(url, settings.connectTimeoutMs))) {
      return false;
    }
  } else {
    yield note(`Connections go through the proxy ${new URL(proxy).host}, which resolves the name.`);
  }
  const connected = await attempt(session.connect(), settings.connectTimeoutMs * 2); // A tunnel and TLS have a limit each.
  if ('code' in connected) {
    yield explainFailure(url.hostname, connected);
    return false;
  }
  const socket = connected.value;
  if (isTls && socket instanceof TLSSocket) {
    yield ok(`The connection uses ${socket.getProtocol()} (handshake: ${format(connected.ms)}).`);
    yield examineExpiry(socket.getPeerCertificate(), now);
  }
  socket.destroy();
  if (!isTls && !isLoopbackHost(url.hostname)) {
    yield warning('The address begins with http://, so API keys are sent unencrypted.', 'Use https://.');
  }
  return true;
}

/** Resolves the name and connects directly. */
async function* examineAddress(url: URL, timeoutMs: number): AsyncGenerator<Finding, boolean> {
  const host = addressOf(url);
  if (isIP(host) === 0) {
    const found = await attempt(lookup(host, { all: true }), timeoutMs);
    if ('code' in found) {
      yield problem(
        `The name ${host} can't be resolved (${found.code}).`,
        'Check its spelling, and the DNS of this machine or container.',
      );
      return false;
    }
    const addresses = found.value.map(({ address }) => address).join(', ');
    yield ok(`${host} is ${addresses} (DNS: ${format(found.ms)}).`);
  }
  const port = portOf(url);
  const connected = await attempt(open(connect({ host, port })), timeoutMs);
  if ('code' in connected) {
    yield problem(
      `${host} can't be reached on port ${port} (${connected.code}).`,
      connected.code === 'ECONNREFUSED'
        ? 'Check the port, and that the service is running.'
        : 'Check the address, and firewalls, network policies and proxies between this machine and the service.',
    );
    return false;
  }
  connected.value.destroy();
  yield ok(`Port ${port} accepts connections (TCP: ${format(connected.ms)}).`);
  return true;
}

function explainFailure(host: string, { code, error }: { code: string; error?: unknown }): Finding {
  if (error instanceof ProxyError) {
    return problem(
      `There is no connection: ${error.message}.`,
      'Check the setting proxy, HTTPS_PROXY and NO_PROXY, and the log of the proxy.',
    );
  }
  return (
    explainRejection(code, host) ??
    problem(
      `There is no TLS connection to ${host} (${code}).`,
      'Check that the port serves https, with TLS 1.2 or 1.3.',
    )
  );
}

/** Waits until a socket is connected. */
function open(socket: Socket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  socket.once('connect', () => resolve(socket));
  socket.on('error', reject); // Also afterwards, when nobody waits anymore.
  return promise;
}

/** Waits for a promise for a limited time. */
async function attempt<Result>(promise: Promise<Result>, timeoutMs: number): Promise<Attempt<Result>> {
  const startedAt = performance.now();
  const { promise: timeout, resolve } = Promise.withResolvers<{ code: string }>();
  const timer = setTimeout(() => resolve({ code: `no answer within ${timeoutMs} ms` }), timeoutMs);
  try {
    return await Promise.race([timeout, promise.then((value) => ({ value, ms: performance.now() - startedAt }))]);
  } catch (error) {
    const code = errorCodeOf(error);
    return { code: typeof code === 'string' ? code : 'unknown error', error };
  } finally {
    clearTimeout(timer);
  }
}

const format = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
