// The implementations of the service that tests ask: sandboxes, and the running service if there is one.

/** Part of the titles of all tests that ask a running service. */
export const SERVICE = 'the service in NOTIGRAPH_TEST_UPSTREAM';
