// Loads another copy of graphql for everything that imports `graphql`: the package that the variable NOTIGRAPH_TEST_GRAPHQL names.
import { registerHooks } from 'node:module';
import { env } from 'node:process';

const ROOT = new URL('../../package.json', import.meta.url).href;
const { NOTIGRAPH_TEST_GRAPHQL: other } = env;

registerHooks({
  resolve: (specifier, context, next) =>
    /^graphql(?:\/|$)/.test(specifier)
      ? next(specifier.replace('graphql', other), { ...context, parentURL: ROOT })
      : next(specifier, context),
});
