import { z } from 'zod';
import { SETTING_INFO, type SettingInfo } from '../../src/settings/define.ts';

/** JSON Schema of a setting, with its documentation. */
export type Described = Omit<
  z.core.JSONSchema.JSONSchema,
  'properties' | 'items' | 'anyOf' | 'additionalProperties' | 'enum' | 'required' | 'pattern'
> &
  Partial<SettingInfo> & {
    properties?: Record<string, Described>;
    items?: Described;
    anyOf?: Described[];
    enum?: readonly unknown[];
    required?: readonly string[];
    pattern?: string;
    additionalProperties?: Described;
  };

/** Returns the JSON Schema of each setting. */
export function describe(settings: Readonly<Record<string, z.ZodType>>): Record<string, Described> {
  const { properties } = z.toJSONSchema(z.strictObject(settings), { metadata: SETTING_INFO, io: 'input' });
  return properties as Record<string, Described>; // The schemas have no other forms of JSON Schema.
}

const UNITS = { Ms: 'ms', Seconds: 's', Bytes: 'bytes', Percent: '%' };

/** Returns `100 to 600000 ms`, or an empty string if there is no range. */
export function rangeOf(name: string, { type, minimum, maximum }: Described): string {
  if (type !== 'integer') {
    return '';
  }
  const unit = Object.entries(UNITS).find(([suffix]) => name.endsWith(suffix))?.[1];
  return `${minimum} to ${maximum}${unit === undefined ? '' : ` ${unit}`}`;
}

/** Returns the default as text; `required` if there is none. */
export function defaultOf(schema: Described): string {
  if (schema.defaultText !== undefined) {
    return schema.defaultText;
  }
  if (schema.default === undefined) {
    return 'required';
  }
  const text = JSON.stringify(schema.default).replaceAll('"', "'");
  return text === '[]' ? 'none' : text;
}
