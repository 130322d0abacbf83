// Searches the schema in the docs. GraphiQL's own search lists all types before the first field.

import {
  DocExplorer,
  type DocExplorerNavStackItem,
  useDocExplorer,
  useDocExplorerActions,
} from '@graphiql/plugin-doc-explorer';
import { useGraphiQL } from '@graphiql/react';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { useState } from 'react';
import { Choices, moveFocus } from './controls.tsx';

interface Found {
  /** Such as `Mutation.triggerEvent`, or with the argument that matches, `Query.topics(pageSize)`. */
  name: string;
  kind: 'field' | 'type';
  item: DocExplorerNavStackItem;
  /** Place among the results: the lower, the higher up. */
  rank: number;
}

const MAX_RESULTS = 50;

/** Docs of the schema below a search. While there is a text to search for, the results replace them. */
export function DocsPanel() {
  const schema = useGraphiQL((state) => state.schema);
  const page = useDocExplorer().at(-1);
  const { push } = useDocExplorerActions();
  const [text, setText] = useState('');
  const found = schema ? search(schema, text.trim().toLowerCase(), page?.name) : [];

  function choose({ item }: Found): void {
    setText('');
    push(item);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it moves the focus among the results.
    <div className="docs" onKeyDown={(event) => moveFocus(event, () => found[0] && choose(found[0]))}>
      <input
        type="search"
        className="graphiql-doc-explorer-search-input" // GraphiQL's shortcut clicks the first element with this name.
        aria-label="Search the docs"
        placeholder="Search"
        value={text}
        onClick={({ currentTarget }) => currentTarget.focus()}
        onChange={({ target }) => setText(target.value)}
      />
      {text.trim() === '' ? (
        <DocExplorer />
      ) : (
        <Choices
          groups={{
            Fields: found.filter(({ kind }) => kind === 'field'),
            Types: found.filter(({ kind }) => kind === 'type'),
          }}
          choose={choose}
        />
      )}
      <p role="status">{text.trim() !== '' && found.length === 0 && 'Nothing in the schema has this name.'}</p>
    </div>
  );
}

/** Finds fields and types by a part of their names: first those of the open page, then those that begin with it, then what can be selected before inputs. */
function search(schema: GraphQLSchema, text: string, page: string | undefined): Found[] {
  const roots: unknown[] = [schema.getQueryType(), schema.getMutationType()];
  const rankOf = (type: GraphQLNamedType, name: string) =>
    (type.name === page ? 0 : 8) +
    (name.toLowerCase().startsWith(text) ? 0 : 4) +
    (roots.includes(type) ? 0 : isInputObjectType(type) ? 2 : 1);
  const matches = (name: string) => text !== '' && name.toLowerCase().includes(text);
  const found: Found[] = [];
  for (const type of Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))) {
    if (matches(type.name)) {
      const item = { name: type.name, def: type };
      found.push({ name: type.name, kind: 'type', item, rank: rankOf(type, type.name) });
    }
    for (const field of fieldsOf(type)) {
      const [name, item] = [`${type.name}.${field.name}`, { name: field.name, def: field }];
      const argument = argumentsOf(field).find((each) => matches(each.name));
      if (matches(field.name)) {
        found.push({ name, kind: 'field', item, rank: rankOf(type, field.name) });
      } else if (argument !== undefined) {
        found.push({ name: `${name}(${argument.name})`, kind: 'field', item, rank: 16 + rankOf(type, argument.name) });
      }
    }
  }
  return found.toSorted((a, b) => a.rank - b.rank).slice(0, MAX_RESULTS);
}

const fieldsOf = (type: GraphQLNamedType) =>
  isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [];

const argumentsOf = (field: GraphQLField<unknown, unknown> | GraphQLInputField): readonly GraphQLArgument[] =>
  'args' in field ? field.args : [];
