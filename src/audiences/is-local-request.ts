import type { IncomingMessage } from 'node:http';

const LOOPBACK_ADDRESS = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

const LOOPBACK_NAME = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

/** What proxies add to requests that they pass on. */
const OF_PROXIES = /^(?:forwarded|via|x-real-ip|x-forwarded-.+)$/;

/** Whether a request comes from this machine and means it. */
export type IsLocalRequest = (request: IncomingMessage) => boolean;

/**
 * Tells what people on this machine send from what reaches it through them: a page elsewhere can make its own name lead here (DNS
 * rebinding), a proxy on this machine passes on what comes from outside, and a page in a browser on this machine may be anybody's.
 *
 * @param origins whose pages count as this machine's, besides the gateway's own
 */
export const createIsLocalRequest =
  (origins: ReadonlySet<string>): IsLocalRequest =>
  ({ socket, headers }) => {
    const { host = '', origin } = headers;
    return (
      LOOPBACK_ADDRESS.test(socket.remoteAddress ?? '') &&
      LOOPBACK_NAME.test(host) &&
      !Object.keys(headers).some((name) => OF_PROXIES.test(name)) &&
      (origin === undefined || origins.has(origin) || URL.parse(origin)?.host === host)
    );
  };
