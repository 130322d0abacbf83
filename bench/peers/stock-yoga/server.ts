import { createServer } from 'node:http';
import { createYoga } from 'graphql-yoga';
import { createContext } from './context.ts';
import { schema } from './schema.ts';

const yoga = createYoga({
  schema,
  context: ({ request }) => createContext(request.headers.get('authorization') ?? ''),
});

createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1');
