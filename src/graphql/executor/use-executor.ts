import type { Plugin } from 'graphql-yoga';
import type { Execute } from './execute.ts';

/** Creates a plugin that executes operations with the gateway's executor. */
export function useExecutor(execute: Execute): Plugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn(execute);
    },
  };
}
