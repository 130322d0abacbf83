// Finds settings of the command that contradict each other, or miss another one.

import type { SettingProblem } from '../../../../src/settings/define.ts';
import { findConflicts } from '../../../../src/settings/parse.ts';
import { countWorkers, type Settings } from './settings.ts';

/** Returns the settings that contradict each other or miss another one: those of the gateway, and of the process. */
export function findAllConflicts(settings: Settings): SettingProblem[] {
  const processes = countWorkers(settings.workers);
  const message = `uses the store memory, which requires a single worker; use cache.store.redis, or set workers to 1 instead of ${processes}`;
  return [
    ...findConflicts(settings),
    ...(isSameAddress(settings) ? [{ path: ['adminPort'], message: 'must differ from port' }] : []),
    ...(settings.cache && settings.cache.store === 'memory' && processes > 1 ? [{ path: ['cache'], message }] : []),
  ];
}

/** Whether both ports are the same, on hosts that overlap. */
function isSameAddress({ host, port, adminHost, adminPort }: Settings): boolean {
  const isEveryHost = [host, adminHost].some((name) => name === '0.0.0.0' || name === '::');
  return port !== 0 && port === adminPort && (host === adminHost || isEveryHost);
}
