import { type GraphQLSchema, getNamedType, isObjectType } from 'graphql';

interface Described {
  description?: string | null | undefined;
}

const scopeOf = ({ extensions }: { extensions: { scope?: unknown } }): unknown => extensions.scope;

/** Adds the scope to the description of every type and field that requires one. */
export function describeScopes(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    addScope(type, scopeOf(type));
    for (const field of Object.values(type.getFields())) {
      addScope(field, scopeOf(field) ?? scopeOf(getNamedType(field.type)));
    }
  }
}

function addScope(part: Described, scope: unknown): void {
  if (typeof scope === 'string') {
    part.description = `${part.description ?? ''}\n\nToken scope: \`${scope}\`.`;
  }
}
