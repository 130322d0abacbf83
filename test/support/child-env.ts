// Defines the environment of child processes: only PATH, and a cache of compiled code that is shared between processes.

import { fileURLToPath } from 'node:url';

export const CHILD_ENV = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)),
};
