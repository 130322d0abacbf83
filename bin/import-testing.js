// Checks the version of Node.js first, as import.js does.
import testing from './require-testing.cjs';

export const { createTestGateway, SANDBOX_KEYS } = testing;
