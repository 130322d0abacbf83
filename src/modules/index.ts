// The interface of modules, as `notigraph/modules`. The shipped modules are `notigraph/modules/events`, `/inbox`, `/messages`, `/subscribers`, `/topics` and `/workflows`.

export type { GraphTypes } from '../graphql/builder.ts';
export type { Loader } from '../graphql/loaders.ts';
export { defineModule, type GatewayModule, ModuleError, type Toolkit } from '../graphql/module.ts';
export type { DeclaredMutation } from '../graphql/mutations.ts';
export { feeds } from '../graphql/types/feed.ts';
export { messages } from '../graphql/types/message.ts';
export { notificationGroups } from '../graphql/types/notification-group.ts';
export { stats } from '../graphql/types/stats.ts';
export { subscribers } from '../graphql/types/subscriber.ts';
export { workflows } from '../graphql/types/workflow.ts';
export type { CachedRead, CallArgs, Declaration, ReadEndpoint, WriteEndpoint } from '../upstream/endpoint.ts';
