// Public API of `notigraph/testing`: a gateway with a notification service in memory, for tests of apps and services. It has no port, and
// imports node:sqlite.

export type {
  Channel,
  DayRecord,
  FilterRecord,
  NamedRecord,
  Records,
  StepRecord,
  SubscriberRecord,
  TransactionRecord,
  WorkflowRecord,
} from '../../sandbox/src/records.ts';
export { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
export type { TraitName } from '../../sandbox/src/traits.ts';
export type { EnvironmentName, UpstreamCall } from './calls.ts';
export type { Duration, TestClock } from './clock.ts';
export type { Endpoint } from './endpoints.gen.ts';
export type { EndpointPattern } from './endpoints.ts';
export type { ActiveFault, FailOptions, Fault, FaultResponse, FaultStatus } from './faults.ts';
export { createTestGateway, type TestGateway, type TestGatewayOptions } from './test-gateway.ts';
export type { Responder, ScriptedResponse } from './test-service.ts';
