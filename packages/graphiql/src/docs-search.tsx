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
import { moveFocus } from './controls.tsx';

interface Found {
  /** Such as `Mutation.triggerEvent`, or with the argument that matches, `Query.topics(pageSize)`. */
  name: string;
  kind: 'Fields' | 'Types';
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
        (['Fields', 'Types'] as const).map((kind) => {
          const group = found.filter((each) => each.kind === kind);
          return (
            group.length > 0 && (
              <section key={kind}>
                <h2>{kind}</h2>
                <ul>
                  {group.map((each) => (
                    <li key={each.name}>
                      <button type="button" onClick={() => choose(each)}>
                        {each.name}
                      </button>
                    </li>
                  ))}
                </ul>
              </section>
            )
          );
        })
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
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  return types
    .flatMap((type): Found[] => [
      ...(matches(type.name)
        ? [
            {
              name: type.name,
              kind: 'Types' as const,
              item: { name: type.name, def: type },
              rank: rankOf(type, type.name),
            },
          ]
        : []),
      ...fieldsOf(type).flatMap((field): Found[] => {
        const argument = argumentsOf(field).find(({ name }) => matches(name));
        const name = `${type.name}.${field.name}`;
        const found = { kind: 'Fields' as const, item: { name: field.name, def: field } };
        return matches(field.name)
          ? [{ ...found, name, rank: rankOf(type, field.name) }]
          : argument === undefined
            ? []
            : [{ ...found, name: `${name}(${argument.name})`, rank: 16 + rankOf(type, argument.name) }];
      }),
    ])
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_RESULTS);
}

const fieldsOf = (type: GraphQLNamedType) =>
  isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [];

const argumentsOf = (field: GraphQLField<unknown, unknown> | GraphQLInputField): readonly GraphQLArgument[] =>
  'args' in field ? field.args : [];
