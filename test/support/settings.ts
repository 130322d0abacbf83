import { parseGatewayOptions } from '../../src/settings/parse-settings.ts';
import type { GatewaySettings } from '../../src/settings/settings.ts';

/** Returns the default settings of a gateway for an upstream, with the given changes. */
export const settingsOf = (
  upstream: string,
  changes: Partial<GatewaySettings> = {},
): GatewaySettings & { upstream: URL } => ({
  ...parseGatewayOptions({ upstream }),
  upstream: new URL(upstream),
  ...changes,
});

/** Default settings. */
export const DEFAULTS = parseGatewayOptions({ upstream: 'http://upstream.invalid' });
