import { statSync } from 'node:fs';
import { secretsOf } from '../../auth/tenant-upstreams.ts';
import { routerSecretOf } from '../../graphql/federation/router-secret.ts';
import { listSecretFiles, type Secret } from '../../lib/files/secret-files.ts';
import { cacheSettingsOf } from '../../settings/cache.ts';
import type { TlsSettings } from '../../settings/upstreams.ts';
import type { CheckedConfig } from '../config/load-config.ts';
import type { Problem } from '../config/problem.ts';

/** Permission of users who are neither the owner nor in the group (POSIX). */
const OTHERS_READ = 0o004;

/** Returns a warning for each secret whose file every user of the machine can read. */
export function findSecretFileWarnings({ config, locate }: CheckedConfig): Problem[] {
  const { cache, clients, clientTokens, logSecret, rateLimits, tls, upstreams = {} } = config;
  const { secret, store = 'memory' } = cacheSettingsOf(cache) ?? {};
  const routerSecret = routerSecretOf(config);
  const { tenants = {}, tenantKeys } = clients.browser ?? {};
  const files: [path: readonly string[], file: string][] = [
    ...filesOf(['clients', 'browser', 'tenants'], secretsOf(tenants)),
    ...listSecretFiles({ directory: tenantKeys?.directory }).map(([, file]): [string[], string] => [
      ['clients', 'browser', 'tenantKeys'],
      file,
    ]),
    ...filesOf(['cache'], secret === undefined ? {} : { secret }),
    ...filesOf(['cache', 'store', 'redis'], store === 'memory' ? {} : { url: store.redis.url }),
    ...filesOf(
      ['rateLimits', 'store', 'redis'],
      rateLimits.store === 'memory' ? {} : { url: rateLimits.store.redis.url },
    ),
    ...filesOf(['tls'], keyOf(tls)),
    ...Object.entries(upstreams).flatMap(([name, own]) => filesOf(['upstreams', name, 'tls'], keyOf(own.tls))),
    ...filesOf(['clientTokens', 'secrets'], Object.fromEntries((clientTokens?.secrets ?? []).entries())),
    ...filesOf([], logSecret === undefined ? {} : { logSecret }),
    ...filesOf(['federation'], routerSecret === undefined ? {} : { routerSecret }),
  ];
  return files
    .filter(([, file]) => isReadableByEveryone(file))
    .map(([path, file]) => {
      const { place, name } = locate(path);
      return { place, sentence: `${name}: every user can read the file ${file}; remove that permission.` };
    });
}

/** Returns the only secret among the certificates. */
const keyOf = ({ clientKey }: Partial<TlsSettings> = {}): Readonly<Record<string, Secret>> =>
  clientKey === undefined ? {} : { clientKey };

const filesOf = (path: readonly string[], secrets: Readonly<Record<string, Secret>>): [string[], string][] =>
  listSecretFiles({ secrets }).map(([name, file]) => [[...path, name], file]);

function isReadableByEveryone(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && (stats.mode & OTHERS_READ) !== 0;
}
