// Public API of the package: a gateway to mount in your own server, with `listener` (`node:http` and frameworks based on it) or `fetch`
// (servers that use the Fetch API).
//
// Everything else is internal and can change in any version: the schema builder, the upstream client, the plugins and the configuration of
// the process. The sandbox is available only through the `notigraph` command. The package contains the schema as `schema/schema.graphql`.

export { ERROR_CODES, type ErrorCode, type ErrorCodeEntry } from './errors/codes.ts';
export { createGateway, type Gateway, type GatewayDeps, type GatewayOptions } from './gateway.ts';
