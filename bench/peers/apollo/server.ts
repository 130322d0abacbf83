import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { NotificationsAPI } from './data-source.ts';
import { type Context, resolvers, typeDefs } from './schema.ts';

const server = new ApolloServer<Context>({ typeDefs, resolvers });

await startStandaloneServer(server, {
  listen: { port: Number(process.env.PORT), host: '127.0.0.1' },
  context: async ({ req }) => ({
    dataSources: {
      notifications: new NotificationsAPI(req.headers.authorization ?? '', { cache: server.cache }),
    },
  }),
});
