import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/**
 * Loads the protocol's package. Synchronous, so that it is loaded when the gateway has been created: loading takes 0.1 to 0.4 seconds, in which a
 * gateway that is already serving would answer nobody.
 */
export const loadProtocol = (): typeof import('@modelcontextprotocol/server') => load('@modelcontextprotocol/server');

/** Loads the part for standard input and output. */
export const loadStdio = (): typeof import('@modelcontextprotocol/server/stdio') =>
  load('@modelcontextprotocol/server/stdio');
