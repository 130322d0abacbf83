import { randomBytes } from 'node:crypto';
import type { Environment } from './config/environment.ts';
import type { Config } from './config/load-config.ts';

/** Returns the environment of workers: the settings as this process read them, even if the file .env changes later. */
export function environmentForWorkers(
  { logSecret, variables }: Config,
  { values }: Environment,
): Environment['values'] {
  const isSetting = (name: string) => /^(?:NOTIGRAPH_|NODE_ENV$)/.test(name) || variables.includes(name);
  const settings = Object.entries(values).filter(([name]) => isSetting(name));
  // With the same secret, a tenant has the same name in the log lines of all workers.
  return { ...Object.fromEntries(settings), NOTIGRAPH_LOG_SECRET: logSecret ?? randomBytes(32).toString('hex') };
}
