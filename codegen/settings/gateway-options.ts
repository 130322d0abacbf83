import { withoutLinks } from '../../src/lib/text.ts';
import { GATEWAY_SETTINGS } from '../../src/settings/settings.ts';
import { joinSentences } from '../markdown.ts';
import { type Described, defaultOf, describe, rangeOf } from './describe.ts';

/** Writes the interface of the settings that `createGateway` takes. */
export const writeGatewayOptions = (): string =>
  `/** Settings of a gateway, as options of \`createGateway\`. */
export interface GatewaySettingOptions ${toObjectType({ properties: describe(GATEWAY_SETTINGS) }, '')}
`;

function toObjectType({ properties = {}, required = [] }: Described, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(
    ([name, member]) =>
      `${inner}/** ${toDocstring(name, member)} */\n${inner}${name}${required.includes(name) ? '' : '?'}: ${toType(member, inner)};\n`,
  );
  return `{\n${members.join('')}${indent}}`;
}

function toType(schema: Described, indent: string): string {
  if (schema.anyOf !== undefined) {
    return [...new Set(schema.anyOf.map((each) => toType(each, indent)))].join(' | ');
  }
  const words = schema.enum ?? ('const' in schema ? [schema.const] : undefined);
  if (words !== undefined) {
    return words.map((word) => JSON.stringify(word).replaceAll('"', "'")).join(' | ');
  }
  if (schema.type === 'array') {
    const item = toType(schema.items ?? {}, indent);
    return /^\w+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`;
  }
  if (schema.type === 'object') {
    return schema.properties === undefined
      ? `Readonly<Record<string, ${toType(schema.additionalProperties ?? {}, indent)}>>`
      : toObjectType(schema, indent);
  }
  const [, endings] = ENDINGS.exec(schema.pattern ?? '') ?? [];
  if (endings !== undefined) {
    const texts = endings.split('|').map((ending) => `\`\${string}:${ending}\``);
    return `((${texts.join(' | ')}) & Record<never, never>)`; // As an intersection, because editors then complete the words beside it.
  }
  return schema.type === 'integer' ? 'number' : String(schema.type);
}

/** Pattern of texts that end in one of several words, such as scopes. */
const ENDINGS = /:\(([a-z|]+)\)\$$/;

function toDocstring(name: string, schema: Described): string {
  const range = rangeOf(name, schema);
  const fallback = defaultOf(schema);
  return joinSentences(
    withoutLinks(schema.description ?? ''),
    range && `${range}.`,
    /^required/.test(fallback) || fallback === '{}' ? '' : `@default ${fallback}`,
  );
}
