// The interface of modules, as `notigraph/modules`. The shipped modules are `notigraph/modules/events`, `/inbox`, `/messages`, `/subscribers`, `/topics` and `/workflows`.

export type { Loader } from '../graphql/loaders.ts';
export type { CachedRead, CallArgs, Declaration, ReadEndpoint, WriteEndpoint } from '../upstream/endpoint.ts';
export { defineModule, type GatewayModule, ModuleError, type Toolkit } from './module.ts';
export type { GraphTypes } from './toolkit/builder.ts';
export type { DeclaredMutation } from './toolkit/mutations.ts';
export { feeds } from './types/feed.ts';
export { messages } from './types/message.ts';
export { notificationGroups } from './types/notification-group.ts';
export { stats } from './types/stats.ts';
export { subscribers } from './types/subscriber.ts';
export { workflows } from './types/workflow.ts';
