// Generates modules from documents of the tests, and imports them.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadModules } from '../../packages/cli/src/config/load-modules.ts';
import { OpenApiDocument } from '../../packages/cli/src/module/document.ts';
import { Planner } from '../../packages/cli/src/module/plan.ts';
import { writeModule } from '../../packages/cli/src/module/write.ts';
import type { GatewayModule } from '../../src/modules/module.ts';
import { createSchema } from '../../src/modules/schema.ts';
import { SHIPPED_MODULES } from '../../src/modules/shipped.ts';
import { ROOT } from './docs.ts';
import { createTemporaryFolder } from './sandbox-files.ts';

export async function generateModule(name: string, document: string): Promise<GatewayModule> {
  const schema = createSchema(undefined, await loadModules({ modules: SHIPPED_MODULES }));
  const plan = new Planner(new OpenApiDocument(join(ROOT, document), document), name, schema).plan(() => true);
  const code = writeModule(plan).replace("'notigraph/modules'", JSON.stringify(join(ROOT, 'src/modules/index.ts')));
  await using folder = await createTemporaryFolder();
  await writeFile(folder.path(`${name}.ts`), code);
  const { default: generated } = await import(pathToFileURL(folder.path(`${name}.ts`)).href);
  return generated;
}
