import graphql from '@graphql-eslint/eslint-plugin';
import { createSchema, printSdl } from '../../src/modules/schema.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import workflowPages from '../../src/modules/shipped/workflows.ts';

/** Folder and schema of each app's documents. Names of operations are unique within an app. */
const APPS = {
  shipped: { folder: 'schema/operations', schema: 'schema/schema.graphql' },
  dashboard: {
    folder: 'examples/dashboard/documents',
    schema: printSdl(createSchema(undefined, [inbox, messages, workflowPages])),
  },
};

const projects = Object.fromEntries(
  Object.entries(APPS).map(([name, { folder, schema }]) => [name, { schema, documents: `${folder}/*.graphql` }]),
);

/** Lints GraphQL documents with every rule for operations. Biome lints everything else. */
export default [
  {
    files: Object.values(APPS).map(({ folder }) => `${folder}/*.graphql`),
    plugins: { '@graphql-eslint': { rules: graphql.rules } },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { projects } } },
    rules: {
      ...graphql.configs['flat/operations-all'].rules,
      '@graphql-eslint/alphabetize': 'off', // Fields are in the order in which people read them.
      '@graphql-eslint/require-import-fragment': 'off', // An app's documents are read together.
      '@graphql-eslint/match-document-filename': [
        'error',
        { fileExtension: '.graphql', query: 'PascalCase', mutation: 'PascalCase', fragment: 'PascalCase' }, // As the typed documents.
      ],
    },
  },
];
