import { loadModules, SHIPPED_MODULES } from '../src/cli/config/load-modules.ts';
import { loadOperations } from '../src/graphql/documents/shipped-operations.ts';
import { createSchema } from '../src/graphql/schema.ts';
import { elementsOf } from '../src/graphql/scopes.ts';

/**
 * Builds the schema with all shipped modules. The extensions of each type and field that one of them adds name it; see `moduleOf`.
 *
 * @returns also the modules, by the last part of their names in configurations, with their operations
 */
export async function loadShippedModules() {
  const imported = await loadModules({ modules: [...SHIPPED_MODULES] });
  const schema = createSchema(undefined, imported);
  const builtIn = new Set(elementsOf(createSchema()).map(({ path }) => path));
  const known = new Set(loadOperations().map(({ name }) => name));
  const modules = imported.map((added, i) => {
    const module = SHIPPED_MODULES[i]?.split('/').at(-1) ?? added.name;
    const own = createSchema(undefined, [added]);
    const paths = new Set(elementsOf(own).map(({ path }) => path));
    for (const { part } of elementsOf(schema).filter(({ path }) => paths.has(path) && !builtIn.has(path))) {
      part.extensions = { ...part.extensions, module };
    }
    return { module, operations: loadOperations(own).filter(({ name }) => !known.has(name)) };
  });
  return { schema, modules };
}
