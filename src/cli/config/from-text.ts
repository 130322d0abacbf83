import { z } from 'zod';
import { SETTINGS, type SettingName } from '../../settings/settings.ts';

/** Converts the text of an option or variable to a type that the setting's schema accepts. Returns the text unchanged if none matches. */
export function fromText(name: SettingName, text: string): unknown {
  const types = typesOf(SETTINGS[name]);
  if (types.has('boolean') && /^(?:on|off|true|false)$/i.test(text)) {
    return /^(?:on|true)$/i.test(text);
  }
  if (types.has('integer') && /^\d{1,10}$/.test(text)) {
    return Number(text);
  }
  return types.has('array') ? text.split(',').map((item) => item.trim()) : text;
}

/** Returns the JSON types that a schema accepts. */
function typesOf(schema: z.ZodType): ReadonlySet<unknown> {
  const { type, anyOf = [] } = z.toJSONSchema(schema, { io: 'input' });
  const inForms = anyOf.map((form) => (typeof form === 'object' ? form.type : undefined));
  return new Set<unknown>([type, inForms].flat(2));
}
