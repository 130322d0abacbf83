import { parseGatewayOptions } from '../../src/settings/parse-settings.ts';
import type { GatewaySettings } from '../../src/settings/settings.ts';

/** Returns the settings of a gateway in front of an upstream, with defaults but for these. */
export const settingsOf = (upstream: string, changes: Partial<GatewaySettings> = {}): GatewaySettings => ({
  ...parseGatewayOptions({ upstream }),
  ...changes,
});

/** Defaults of the settings that have one. */
export const DEFAULTS = parseGatewayOptions({ upstream: 'http://upstream.invalid' });
