import { trace } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { isRecord } from '../../lib/is-record.ts';

/** Key of the registered SDK, which all copies of the API of major version 1 share. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** Warns if an SDK is registered that the API silently ignores, because it was registered with an older minor version of the API. */
export function warnOfIgnoredSdk(logger: Logger): void {
  const registry: unknown = Reflect.get(globalThis, REGISTRY);
  if (isRecord(registry) && registry.trace !== undefined && registry.trace !== trace.getTracerProvider()) {
    logger.warn(
      { apiVersion: registry.version },
      'The OpenTelemetry SDK is ignored: it was registered with an older version of @opentelemetry/api. Install one version for both.',
    );
  }
}
