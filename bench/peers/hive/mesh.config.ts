import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from '@graphql-mesh/compose-cli';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';
import { parse } from 'yaml';
import { beside } from '../packages.ts';

/** The part of the service's contract that is changed before it is composed. */
interface Contract {
  components: { schemas: { StepTemplate: { properties: { content: object } } } };
}

const contract: Contract = parse(
  readFileSync(beside(import.meta.url, '../../../schema/upstream.openapi.yaml'), 'utf8'),
);
// As a choice between a text and a list it would become a list, and every text an error: any JSON is as true, and works.
contract.components.schemas.StepTemplate.properties.content = {};

const source = beside(import.meta.url, '.composed/contract.json');
mkdirSync(beside(import.meta.url, '.composed'), { recursive: true });
writeFileSync(source, JSON.stringify(contract));

/** How the supergraph is composed; the upstream's address is filled in when the gateway starts. */
export const composeConfig = defineConfig({
  subgraphs: [
    {
      sourceHandler: loadOpenAPISubgraph('notifications', {
        source,
        endpoint: '{env.UPSTREAM}',
        operationHeaders: { Authorization: '{context.headers.authorization}' },
      }),
    },
  ],
});
