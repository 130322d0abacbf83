// Environment variables: those of the process and of the file `.env`, and the proxies that they set.

import { isIP } from 'node:net';
import { parseEnv } from 'node:util';
import { FileError, readTextFile } from '../../../../src/files/text-file.ts';
import { caught } from '../../../../src/lib/caught.ts';
import { arrayOf, isRecord, recordOf } from '../../../../src/lib/is-record.ts';
import { addressOf, isLoopbackHost, parseIpRange, portOf, toHostname } from '../../../../src/lib/urls.ts';
import { proxyAddress } from '../../../../src/settings/kinds.ts';
import type { Problem } from './problem.ts';

/** Environment variables of the process and of the file `.env`. */
export interface Environment {
  /** Variables by name. Those of the process override those of the file. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /**
   * Names a variable with its source: `NOTIGRAPH_PORT (environment)` or `NOTIGRAPH_PORT (.env)`.
   *
   * @param index index in the variable's list
   */
  nameOf(name: string, index?: string): string;
  readonly problems: readonly Problem[];
}

/**
 * Returns a file's text.
 *
 * @throws {FileError} if it can't be read
 */
export type ReadFile = (path: string) => string;

/** Maximum size of a configuration file, in bytes. */
const MAX_ENV_FILE_BYTES = 1024 * 1024;

export const readConfigText: ReadFile = (path) => readTextFile(path, MAX_ENV_FILE_BYTES);

const FILE = '.env';

/** Matches the variables, with their values, that Kubernetes sets for each Service of the namespace whose name begins with "notigraph". */
const SERVICE_VARIABLE =
  /^NOTIGRAPH_(?:\w+_)?(?:SERVICE_(?:HOST|PORT(?:_\w+)?)=|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?=|PORT=(?:tcp|udp|sctp):\/\/)/;

/** Reads the file `.env` of the working directory, if any. The variables of the process override it. */
export function readEnvironment(processEnv: Environment['values'], readFile: ReadFile = readConfigText): Environment {
  const variables = Object.fromEntries(
    Object.entries(processEnv).filter(([name, value]) => !SERVICE_VARIABLE.test(`${name}=${value}`)),
  );
  let fromFile: Environment['values'] = {};
  const error = caught(FileError, () => {
    fromFile = parseEnv(readFile(FILE));
  });
  // The file is optional, and some projects have a directory of this name.
  const isProblem = error !== undefined && !error.isMissing && !error.message.startsWith('is a directory');
  return {
    values: { ...fromFile, ...variables },
    nameOf(name, index) {
      const isOfFile = variables[name] === undefined && Object.hasOwn(fromFile, name);
      return `${index === undefined ? name : `${name}.${index}`} (${isOfFile ? FILE : 'environment'})`;
    },
    problems: isProblem ? [{ sentence: `The file ${FILE} ${error.message}.` }] : [],
  };
}

/**
 * Sets the proxy of each upstream and issuer that has no setting `proxy` to that of the environment. Reads the variables that other programs read; lower case
 * takes precedence. Problems never contain values, which may have passwords.
 *
 * @param values settings before validation
 */
export function applyProxyVariables(
  values: Readonly<Record<string, unknown>>,
  { values: env, nameOf }: Environment,
): { values: Readonly<Record<string, unknown>>; problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const excluded = readExclusions(env.no_proxy || env.NO_PROXY);

  function proxyFor(upstream: unknown): string | undefined {
    const url = typeof upstream === 'string' ? URL.parse(upstream) : null;
    const name = url && variableFor(url.protocol, env);
    if (url === null || name == null || isLoopbackHost(url.hostname) || excluded(url)) {
      return undefined;
    }
    const address = env[name] ?? '';
    const proxy = address.includes('://') ? address : `http://${address}`;
    if (proxyAddress.safeParse(proxy).success) {
      return proxy;
    }
    problems.push({ sentence: `${nameOf(name)} must be the URL of a proxy such as http://proxy.example.com:3128.` });
    return undefined;
  }

  const changed = structuredClone(values);
  const setProxy = (section: unknown, address: unknown, fallback?: string) => {
    if (isRecord(section) && section.proxy === undefined && address !== undefined) {
      const proxy = proxyFor(address) ?? fallback;
      Object.assign(section, proxy && { proxy });
    }
  };
  if (values.proxy === undefined) {
    setProxy(changed, values.upstream);
    for (const entry of Object.values(recordOf(changed.upstreams))) {
      setProxy(entry, recordOf(entry).url);
    }
    for (const issuer of arrayOf(recordOf(recordOf(changed.clients).browser).issuers)) {
      // Otherwise, an issuer that NO_PROXY excludes would use the upstream's proxy.
      setProxy(issuer, recordOf(issuer).jwks, changed.proxy ? 'off' : undefined);
    }
  }
  return { values: changed, problems };
}

/** Returns the name of the variable with the proxy for a protocol, if it is set. */
const variableFor = (protocol: string, env: Environment['values']): string | undefined =>
  (protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY']).find((name) => env[name]);

/**
 * Reads a comma-separated list of hosts that are reached directly. Spaces separate too. Entries are host names with their subdomains, addresses, address ranges
 * such as 10.0.0.0/8, each with an optional port, or `*` for all.
 */
function readExclusions(list = ''): (url: URL) => boolean {
  const rules = (list.match(/[^\s,]+/g) ?? []).map(toRule);
  return (url) => rules.some((isExcluded) => isExcluded(url));
}

function toRule(entry: string): (url: URL) => boolean {
  if (entry === '*') {
    return () => true;
  }
  const range = entry.includes('/') ? parseIpRange(entry.replace(/[[\]]/g, '')) : undefined;
  if (range !== undefined) {
    return (url) => range(addressOf(url));
  }
  const [, bracketed, plain = '', port] =
    /^(?:\[(.+)\]|(.+?))(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  const host = (bracketed ?? plain).replace(/^\*?\./, '').toLowerCase();
  return (url) => {
    const address = toHostname(addressOf(url));
    const isHost = address === host || (isIP(host) === 0 && address.endsWith(`.${host}`));
    return isHost && (port === undefined || port === String(portOf(url)));
  };
}
