// Changes the configuration of gateways that run, and waits until it is reloaded.

import { rename, writeFile } from 'node:fs/promises';
import { request } from 'undici';
import type { ServedCommand } from './command.ts';
import { metricValues } from './metrics-text.ts';
import { AUDIENCE, ISSUER, TENANT_KEYS, type TestSigner } from './tokens.ts';

/** Tenant with a key. */
export type Tenant = keyof typeof TENANT_KEYS;

/** Environment in which configuration files find the keys of all tenants. */
export const TENANT_ENV = { ACME_KEY: TENANT_KEYS.acme, GLOBEX_KEY: TENANT_KEYS.globex };

/**
 * Writes a configuration file with these tenants, a limit for servers that no test reaches, and other settings. Replaces an earlier one at once: on a busy
 * machine, a file that is written in place could stay empty for long enough to be read.
 */
export async function writeConfig(
  path: string,
  { publicKey }: TestSigner,
  tenants: readonly Tenant[],
  others: Readonly<Record<string, unknown>>,
): Promise<void> {
  const config = {
    clients: {
      server: { rateLimit: { calls: 1_000_000, perSeconds: 10_000_000_000 } },
      browser: {
        issuers: [{ issuer: ISSUER, audience: AUDIENCE, publicKey }],
        scopes: ['groups:read'],
        tenants: Object.fromEntries(tenants.map((tenant) => [tenant, { env: `${tenant.toUpperCase()}_KEY` }])),
      },
    },
    ...others,
  };
  await writeFile(`${path}.new`, JSON.stringify(config));
  await rename(`${path}.new`, path);
}

/** Sends a query. @returns its data or the code of its error, and the calls that are left */
export async function ask({ url }: { url: string }, authorization: string, query = '{ notificationGroups { name } }') {
  const { headers, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify({ query }),
    reset: true, // The next connection goes to another worker.
  });
  const { data, errors } = (await body.json()) as { data?: object; errors?: { extensions: { code: string } }[] };
  return { answer: errors?.[0]?.extensions.code ?? data, remaining: Number(headers['ratelimit-remaining']) };
}

/** Returns since when a change of the configuration is rejected, in seconds since the Unix epoch. */
export async function invalidSince({ url }: { url: string }): Promise<number | undefined> {
  const { body } = await request(new URL('/metrics', url));
  const name = 'notigraph_files_invalid_since_seconds{files="configuration"}';
  return metricValues(await body.text(), /^notigraph_files_invalid/)[name];
}

/** Runs a change, and waits for the next line with the message. @returns the line */
export async function untilLogged(
  notigraph: Pick<ServedCommand, 'output' | 'printed'>,
  message: string,
  change: () => unknown,
) {
  const linesWith = () => notigraph.output().match(new RegExp(`^.*"msg":"${message}.*$`, 'gm')) ?? [];
  const count = linesWith().length;
  await change();
  await notigraph.printed('stdout', new RegExp(`"msg":"${message}`), count + 1);
  return JSON.parse(linesWith().at(-1) ?? '');
}

export const RELOADED = 'the configuration was reloaded';
export const REJECTED = 'the configuration was not reloaded';
