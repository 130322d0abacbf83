import type { CheckedConfig } from '../config/load-config.ts';
import type { Problem } from '../config/problem.ts';

/** Returns why the sandbox couldn't use its file. The file stays unchanged. The sandbox is loaded only if it is configured. */
export async function findSandboxProblems({ config: { upstream }, values, locate }: CheckedConfig): Promise<Problem[]> {
  if (upstream.kind !== 'sandbox') {
    return [];
  }
  const { SandboxError, checkSandboxFile } = await import('../../sandbox/sandbox.ts');
  try {
    checkSandboxFile(upstream.file);
    return [];
  } catch (error) {
    if (error instanceof SandboxError) {
      const { place, name } = values.sandbox === undefined ? { name: 'The sandbox' } : locate(['sandbox']);
      return [{ place, sentence: `${name}: ${error.message}` }];
    }
    throw error;
  }
}
