/**
 * The public surface of the package: a gateway that is mounted in a server of one's own, at `listener` (`node:http` and frameworks on top
 * of it) or `fetch` (everything that speaks the fetch API).
 *
 * Withheld, because they change with any version: the GraphQL schema's builder, the upstream client, the plugins, the configuration of the
 * process, and the sandbox, which comes with the `notigraph` command. The schema itself is in `schema/schema.graphql` of the package.
 */
export { createGateway, type Gateway, type GatewayDeps, type GatewayOptions } from './gateway.ts';
