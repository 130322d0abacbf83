import { useGraphiQL, useMonaco } from '@graphiql/react';
import { type GraphQLSchema, Kind, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { useEffect } from 'react';
import type { UpstreamReport } from './config.ts';

/** Field in a document that needed calls. */
interface CountedField {
  line: number;
  name: string;
  /** Name with its type, such as `Query.workflow`. */
  path: string;
}

/** Shows the calls of each field beside it in the editor, until the next operation or another tab. */
export function useFieldCounts(report: UpstreamReport | undefined): void {
  const { queryEditor, schema } = useGraphiQL(({ queryEditor, schema }) => ({ queryEditor, schema }));
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    const model = queryEditor?.getModel();
    if (!queryEditor || !model || !schema || !monaco || !report) {
      return undefined;
    }
    const notes = toNotes(findFields(model.getValue(), schema, report.fields), report.fields);
    const decorations = queryEditor.createDecorationsCollection(
      [...notes].map(([line, note]) => {
        const column = model.getLineMaxColumn(line);
        return {
          range: new monaco.Range(line, column, line, column),
          options: { after: { content: note, inlineClassName: 'field-count' }, showIfCollapsed: true },
        };
      }),
    );
    return () => decorations.clear();
  }, [queryEditor, schema, monaco, report]);
}

function findFields(text: string, schema: GraphQLSchema, counts: UpstreamReport['fields']): CountedField[] {
  const found: CountedField[] = [];
  const types = new TypeInfo(schema);
  try {
    visit(
      parse(text),
      visitWithTypeInfo(types, {
        [Kind.FIELD]({ name: { value: name, loc } }) {
          const path = `${types.getParentType()?.name}.${name}`;
          if (loc !== undefined && Object.hasOwn(counts, path)) {
            found.push({ line: loc.startToken.line, name, path });
          }
        },
      }),
    );
  } catch {
    return []; // The document was changed after it was sent.
  }
  return found;
}

/** Returns the text for each line. Counts are those of all places in which a field is selected. */
function toNotes(fields: readonly CountedField[], counts: UpstreamReport['fields']): Map<number, string> {
  const notes = new Map<number, string>();
  for (const [line, inLine] of Map.groupBy(fields, (field) => field.line)) {
    const paths = new Set(inLine.map(({ path }) => path));
    const parts = [...paths].map((path) => {
      const count = counts[path] ?? 0;
      const name = paths.size === 1 ? '' : `${path.slice(path.indexOf('.') + 1)}: `;
      const isElsewhere = fields.some((other) => other.path === path && other.line !== line);
      return `${name}${count} ${count === 1 ? 'call' : 'calls'}${isElsewhere ? ' in all' : ''}`;
    });
    notes.set(line, parts.join(', '));
  }
  return notes;
}
