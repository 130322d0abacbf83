// Public API of `notigraph/testing/msw`: typed mocks of the shipped operations and of your own, for apps that test with msw. They imitate
// responses; `notigraph/testing` runs a real gateway.

export { type GatewayErrorOptions, gatewayError } from './gateway-error.ts';
export {
  type MockedOperation,
  type MockedRequest,
  type MockedResult,
  type MockOptions,
  mockOperation,
  type Resolver,
} from './mock-operation.ts';
export { mocks } from './mocks.gen.ts';
