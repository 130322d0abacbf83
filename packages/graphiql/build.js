// Builds the page into dist/graphiql. JavaScript, because npm may run it with a Node.js that doesn't know TypeScript.
import { fileURLToPath } from 'node:url';

process.env.NODE_ENV = 'production'; // Also for tests, so that they test what is shipped.

const { build } = await import('vite').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') {
    throw error;
  }
  console.log('GraphiQL is not built, because the development dependencies are not installed.');
  return {};
});
await build?.({ configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)) });
