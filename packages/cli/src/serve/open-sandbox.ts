// Starts the sandbox of a gateway, and makes it the gateway's service.

import { SANDBOX_KEYS } from '../../../sandbox/src/environments.ts';
import type { Sandbox } from '../../../sandbox/src/sandbox.ts';
import type { Config } from '../config/load-config.ts';

/** Starts the sandbox if the configuration has no service. It is loaded on demand, because workers have none. */
export async function openSandbox({ sandbox: file }: Config): Promise<Sandbox | undefined> {
  if (file === undefined) {
    return undefined;
  }
  const { startSandbox } = await import('../../../sandbox/src/sandbox.ts');
  return startSandbox({ file });
}

/**
 * Returns the configuration with a running sandbox as its service. The sandbox is on this machine: no proxy, and a GraphiQL with its key, which is
 * public, unless only browsers' tokens are accepted.
 */
export function withSandbox(config: Config, sandbox: Pick<Sandbox, 'url'> | undefined): Config {
  if (sandbox === undefined) {
    return config;
  }
  return {
    ...config,
    upstream: sandbox.url,
    proxy: 'off',
    ...(config.graphiql === true && {
      graphiql: { sandbox: true, ...(config.clients.server !== false && { authorization: AUTHORIZATION }) },
    }),
  };
}

const AUTHORIZATION = `ApiKey ${SANDBOX_KEYS.development}`;

/** Returns the sandbox's key, which everybody may use. The keys of a service are the callers'. */
export const sandboxAuthorization = ({ sandbox }: Config): string | undefined =>
  sandbox === undefined ? undefined : AUTHORIZATION;
