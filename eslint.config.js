import graphql from '@graphql-eslint/eslint-plugin';

const schema = 'schema/schema.graphql';

/** Folder of each app's documents. Names of operations are unique within an app. */
const FOLDERS = { shipped: 'schema/operations', dashboard: 'examples/dashboard/documents' };

const projects = Object.fromEntries(
  Object.entries(FOLDERS).map(([name, folder]) => [name, { schema, documents: `${folder}/*.graphql` }]),
);

/** Lints GraphQL documents with every rule for operations. Biome lints everything else. */
export default [
  {
    files: Object.values(FOLDERS).map((folder) => `${folder}/*.graphql`),
    plugins: { '@graphql-eslint': { rules: graphql.rules } },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { projects } } },
    rules: {
      ...graphql.configs['flat/operations-all'].rules,
      '@graphql-eslint/alphabetize': 'off', // Fields are in the order in which people read them.
      '@graphql-eslint/match-document-filename': [
        'error',
        { fileExtension: '.graphql', query: 'PascalCase', mutation: 'PascalCase', fragment: 'PascalCase' }, // As the typed documents.
      ],
    },
  },
];
