import type { Logger } from 'pino';

/** Runs a call of the operator's SDK. Returns undefined if it throws, because a broken SDK must not fail a request. */
export type GuardSdk = <T>(call: () => T) => T | undefined;

/** Creates the guard. The first failure is logged; more would only repeat it. */
export function createSdkGuard(logger: Logger): GuardSdk {
  let hasFailed = false;
  return (call) => {
    try {
      return call();
    } catch (err) {
      if (!hasFailed) {
        hasFailed = true;
        logger.error({ err }, 'The OpenTelemetry SDK failed. Requests are served, but traces may be incomplete.');
      }
      return undefined;
    }
  };
}
