import { startScriptedUpstream } from './scripted-upstream.ts';

/**
 * Starts an upstream that holds its responses until `release()`; `asked` resolves when the first request with a key arrives. It responds to the
 * check at startup, which has no key, at once.
 *
 * @param groups notification groups of each response. @default none
 */
export async function startHoldingUpstream(groups: readonly unknown[] = []) {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const upstream = await startScriptedUpstream(async ({ headers }) => {
    if (headers.authorization !== undefined) {
      ask();
      await released;
    }
    return { body: { data: groups } };
  });
  return { ...upstream, asked, release };
}
