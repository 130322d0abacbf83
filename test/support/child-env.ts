import { fileURLToPath } from 'node:url';

/** Environment of processes that tests start: nothing of ours, and a folder that keeps compiled code for the next process. */
export const CHILD_ENV = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)),
};
