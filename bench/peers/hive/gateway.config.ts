import { defineConfig } from '@graphql-hive/gateway';
import { type GraphQLResolveInfo, print, type SelectionSetNode } from 'graphql';

/** Function that queries a field of a subgraph, from the gateway's documentation. It requests equal keys only once per request. */
type SubgraphQuery<Result> = (options: {
  root: unknown;
  context: SubgraphContext;
  info: GraphQLResolveInfo;
  key: string;
  argsFromKeys: (keys: string[]) => object;
  selectionSet: (subtree: SelectionSetNode) => string;
  valuesFromResults: (result: Result, keys: string[]) => unknown[];
  dataLoaderOptions?: { maxBatchSize: number };
}) => Promise<unknown>;

interface SubgraphContext {
  notifications: {
    Query: {
      getWorkflow: SubgraphQuery<{ data: object }>;
      listNotificationGroups: SubgraphQuery<{ data: { _id: string }[] }>;
    };
  };
}

const inWorkflow = (subtree: SelectionSetNode) => `{ ... on getWorkflow_200_response { data ${print(subtree)} } }`;

const inGroups = (subtree: SelectionSetNode) =>
  `{ ... on listNotificationGroups_200_response { data { _id } data ${print(subtree)} } }`;

const getWorkflow = (id: string, root: unknown, context: SubgraphContext, info: GraphQLResolveInfo) =>
  context.notifications.Query.getWorkflow({
    root,
    context,
    info,
    key: id,
    argsFromKeys: ([workflowIdOrIdentifier]) => ({ workflowIdOrIdentifier }),
    selectionSet: inWorkflow,
    valuesFromResults: ({ data }) => [data],
    dataLoaderOptions: { maxBatchSize: 1 }, // The service returns one workflow per request.
  });

/** Configuration of the gateway: its defaults, and the joins between types that the contract doesn't describe. */
export const gatewayConfig = defineConfig<SubgraphContext>({
  additionalTypeDefs: /* GraphQL */ `
    extend type Query {
      workflows(idsOrIdentifiers: [String!]!): [Workflow!]!
    }
    extend type Workflow {
      group: NotificationGroup
    }
    extend type StatisticsEntry {
      workflows(first: Int): [Workflow!]!
    }
  `,
  additionalResolvers: {
    Query: {
      workflows: (
        root: unknown,
        { idsOrIdentifiers }: { idsOrIdentifiers: string[] },
        context: SubgraphContext,
        info: GraphQLResolveInfo,
      ) => idsOrIdentifiers.map((id) => getWorkflow(id, root, context, info)),
    },
    Workflow: {
      group: {
        selectionSet: '{ _notificationGroupId }',
        resolve: (
          root: { _notificationGroupId: string },
          _args: object,
          context: SubgraphContext,
          info: GraphQLResolveInfo,
        ) =>
          context.notifications.Query.listNotificationGroups({
            root,
            context,
            info,
            key: root._notificationGroupId,
            argsFromKeys: () => ({}),
            selectionSet: inGroups,
            valuesFromResults: ({ data }, keys) => {
              const groups = new Map(data.map((group) => [group._id, group]));
              return keys.map((key) => groups.get(key));
            },
          }),
      },
    },
    StatisticsEntry: {
      workflows: {
        selectionSet: '{ templates }',
        resolve: (
          root: { templates: string[] },
          { first }: { first?: number | null },
          context: SubgraphContext,
          info: GraphQLResolveInfo,
        ) => root.templates.slice(0, first ?? undefined).map((id) => getWorkflow(id, root, context, info)),
      },
    },
  },
});
