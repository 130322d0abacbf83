import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Config } from './config/create-config.ts';

/** Starts the sandbox if the configuration has no service. It is loaded on demand, because workers have none. */
export async function openSandbox({ upstream }: Config): Promise<Sandbox | undefined> {
  if (upstream.kind !== 'sandbox') {
    return undefined;
  }
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  return startSandbox({ file: upstream.file });
}

/** Returns the base address of the service or of the sandbox; undefined if there are several services. */
export const upstreamOf = ({ upstream }: Config, sandbox: Pick<Sandbox, 'url'> | undefined): string | undefined =>
  upstream.kind === 'service' ? upstream.url.href : upstream.kind === 'sandbox' ? sandbox?.url : undefined;
