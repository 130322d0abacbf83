// Configures how Hive Gateway's supergraph is composed from the service's contract.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from '@graphql-mesh/compose-cli';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';
import { parse } from 'yaml';

const beside = (path: string): string => new URL(path, import.meta.url).pathname;

/** Part of the service's contract that is changed before composition. */
interface Contract {
  components: { schemas: { StepTemplate: { properties: { content: object } } } };
}

const contract: Contract = parse(readFileSync(beside('../../../schema/upstream.openapi.yaml'), 'utf8'));
// Declared as any JSON: the contract's choice of string or list would be composed as a list, and strings would be errors.
contract.components.schemas.StepTemplate.properties.content = {};

const source = beside('.composed/contract.json');
mkdirSync(beside('.composed'), { recursive: true });
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
