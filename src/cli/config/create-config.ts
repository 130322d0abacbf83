import type { GatewaySettingOptions } from '../../settings/gateway-options.gen.ts';
import { type PartialSettings, parseSettings, toSentence } from '../../settings/parse-settings.ts';
import { GATEWAY_SETTINGS } from '../../settings/settings.ts';
import { DEFAULT_SANDBOX_FILE } from '../sandbox-file.ts';
import { ConfigError } from './problem.ts';

/** Plain data that a configuration is made from. It may contain secrets. */
export interface ConfigOrigin {
  /** Settings of all sources before validation, with the values of the variables that they refer to. */
  values: Readonly<Record<string, unknown>>;
  /** Name of the configuration file, or of the variable with the configuration; undefined if there is none. */
  source?: string | undefined;
  /** Whether the process runs in production. The log is then JSON even on a terminal. */
  isProduction: boolean;
}

/** Configuration of the process. */
export interface Config extends Omit<PartialSettings, 'upstream' | 'sandbox'>, ConfigOrigin {
  /** Configured settings before validation, for `createGateway`. */
  given: Readonly<Partial<GatewaySettingOptions>>;
  /** URL of the service, or those in `upstreams`, or the database file of the embedded sandbox; `:memory:` keeps data in memory. */
  upstream: { kind: 'service'; url: URL } | { kind: 'services' } | { kind: 'sandbox'; file: string };
}

/**
 * Creates a configuration, in the process that read it or in another one. Reads nothing else.
 *
 * @throws {ConfigError} if a setting is invalid
 */
export function createConfig({ values, source, isProduction }: ConfigOrigin): Config {
  const { sandbox, ...configured } = values;
  const { settings, problems = [] } = parseSettings(configured);
  if (settings === undefined) {
    throw new ConfigError(problems.map(toSentence));
  }
  const { upstream: url, ...others } = settings;
  const service: Config['upstream'] | undefined = url && { kind: 'service', url };
  const services: Config['upstream'] | undefined = settings.upstreams && { kind: 'services' };
  return {
    ...others,
    values,
    source,
    isProduction,
    given: pickGatewayOptions(configured),
    upstream: service ?? services ?? { kind: 'sandbox', file: sandboxFileOf(values) },
  };
}

/** Returns the database file of the sandbox. */
export const sandboxFileOf = ({ sandbox }: ConfigOrigin['values']): string =>
  typeof sandbox === 'string' && !/^1?$/.test(sandbox) ? sandbox : DEFAULT_SANDBOX_FILE;

/** Returns the settings for `createGateway`, which validates them itself with the same schemas. */
const pickGatewayOptions = (values: ConfigOrigin['values']): Partial<GatewaySettingOptions> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(GATEWAY_SETTINGS, name)));
