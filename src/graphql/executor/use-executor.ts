import type { Plugin } from 'graphql-yoga';
import { createExecutor } from './execute.ts';
import type { Limits } from './limits.ts';

/** Creates a plugin that executes operations with the gateway's executor. */
export function useExecutor(limits: Limits): Plugin {
  const execute = createExecutor(limits);
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn(execute);
    },
  };
}
