import type { Files } from './load-config.ts';
import { readConfigText } from './read-config-text.ts';
import { findFileProblems } from './referenced-files.ts';

/** Files of a configuration, on the disk. */
export const CONFIG_FILES: Files = { read: readConfigText, findProblems: findFileProblems };
