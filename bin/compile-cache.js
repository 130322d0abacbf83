// Lets Node.js keep compiled code, which makes later starts faster.

import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// In this installation rather than the default, the machine's temporary folder, where other users could put code. If the folder is
// read-only, the program runs without a cache.
enableCompileCache(fileURLToPath(new URL('../dist/.cache', import.meta.url)));
