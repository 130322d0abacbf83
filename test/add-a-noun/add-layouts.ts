// Adds a noun to a copy of the project, as CONTRIBUTING.md describes it.

import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMap, isSeq, parse, parseDocument } from 'yaml';
import type { ProjectCopy } from '../support/project-copy.ts';

const LAYOUTS = fileURLToPath(new URL('layouts/', import.meta.url));

/** Files of the resource `layouts`, apart from its paths in the OpenAPI document. */
const FILES = [
  'src/modules/types/layout.ts',
  'packages/sandbox/src/resources/layouts.ts',
  'schema/operations/Layouts.graphql',
];

/** Endpoints of the contract, in which the new ones are declared and listed. */
const ENDPOINTS = 'src/upstream/endpoints.ts';

const DECLARATIONS = `
/** Layout. */
export type LayoutBody = Schemas['Layout'];

/** Returns all layouts. */
export const listLayouts = endpoint('GET /v1/layouts', { expect: 'list' }).returns<LayoutBody[]>();

/** Creates a layout. */
export const createLayout = endpoint('POST /v1/layouts', { idempotent: true }).takes<{ body: { name: string } }>().returns<LayoutBody>();
`;

/** Lists of the graph's modules and of the sandbox's resources. */
const SCHEMA = 'src/modules/schema.ts';
const RESOURCES = 'packages/sandbox/src/resources/index.ts';

/** Adds the resource `layouts` to a copy of the project: its paths in the OpenAPI document, three files, its endpoints, and lines in two lists. */
export async function addLayouts(copy: ProjectCopy): Promise<void> {
  for (const file of FILES) {
    await cp(join(LAYOUTS, file), copy.path(file));
  }
  const endpoints = await copy.read(ENDPOINTS);
  await writeFile(
    copy.path(ENDPOINTS),
    endpoints
      .replace('\nexport const CONTRACT', `${DECLARATIONS}$&`)
      .replace('\n  getWorkflow,\n]', '\n  listLayouts,\n  createLayout,$&'),
  );
  const schema = await copy.read(SCHEMA);
  await writeFile(
    copy.path(SCHEMA),
    schema
      .replace('\n  feeds,', '\n  layouts,$&')
      .replace('\nimport', "\nimport { layouts } from './types/layout.ts';$&"),
  );
  const list = await copy.read(RESOURCES);
  await writeFile(
    copy.path(RESOURCES),
    list
      .replace('\n];', '\n  layouts,$&')
      .replace('\nimport', "\nimport { resource as layouts } from './layouts.ts';$&"),
  );
  const document = parseDocument(await copy.read('schema/upstream.openapi.yaml'));
  const { tags, paths, components } = parse(await readFile(join(LAYOUTS, 'openapi.yaml'), 'utf8'));
  const [allTags, allPaths, schemas] = [['tags'], ['paths'], ['components', 'schemas']].map((at) => document.getIn(at));
  if (!isSeq(allTags) || !isMap(allPaths) || !isMap(schemas)) {
    throw new TypeError('The OpenAPI document lacks tags, paths or schemas.');
  }
  for (const tag of tags) {
    allTags.add(document.createNode(tag));
  }
  for (const [map, entries] of [
    [allPaths, paths],
    [schemas, components.schemas],
  ] as const) {
    for (const [key, value] of Object.entries(entries)) {
      map.set(key, document.createNode(value));
    }
  }
  await writeFile(copy.path('schema/upstream.openapi.yaml'), document.toString());
}
