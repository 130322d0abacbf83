import { fileURLToPath } from 'node:url';

/** Environment of child processes: only PATH, and a cache of compiled code that is shared between processes. */
export const CHILD_ENV = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)),
};
