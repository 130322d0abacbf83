import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from '@graphql-mesh/compose-cli';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';
import { parse } from 'yaml';
import { beside } from '../packages.ts';

/** Part of the service's contract that is changed before composition. */
interface Contract {
  components: { schemas: { StepTemplate: { properties: { content: object } } } };
}

const contract: Contract = parse(
  readFileSync(beside(import.meta.url, '../../../schema/upstream.openapi.yaml'), 'utf8'),
);
// Declared as any JSON: the contract's choice of string or list would be composed as a list, and strings would be errors.
contract.components.schemas.StepTemplate.properties.content = {};

const source = beside(import.meta.url, '.composed/contract.json');
mkdirSync(beside(import.meta.url, '.composed'), { recursive: true });
writeFileSync(source, JSON.stringify(contract));

/** Configuration of the composition. The upstream's address is set when the gateway starts. */
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
