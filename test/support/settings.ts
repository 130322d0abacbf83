// Returns default settings of a gateway, with the changes of a test.

import { parseOptions } from '../../src/settings/parse.ts';
import type { GatewaySettings } from '../../src/settings/settings.ts';

/** Returns the default settings of a gateway for an upstream, with the given changes. */
export const settingsOf = (
  upstream: string,
  changes: Partial<Omit<GatewaySettings, 'upstream'>> = {},
): Omit<GatewaySettings, 'upstream'> & { upstreamUrl: URL } => ({
  ...parseOptions({ upstream }),
  upstreamUrl: new URL(upstream),
  ...changes,
});

/** Default settings. */
export const DEFAULTS = parseOptions({ upstream: 'http://upstream.invalid' });
