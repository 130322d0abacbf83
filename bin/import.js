// An old Node.js can't link the library, which imports what only newer versions export. This module loads it after checking the version.
import library from './require.cjs';

export const { createGateway } = library;
