import { membersOf, type Part, partOf, withKind } from '../../settings/kinds.ts';
import { SETTINGS_TABLE } from '../../settings/settings.ts';
import type { LoadedConfig } from './load-config.ts';

/** Shown in place of secrets, certificates, and addresses that may contain a password. */
const REDACTED = '(not shown)';

/**
 * Describes the configuration for its operators, as JSON: the value of each setting, and where it comes from. A secret in a file is shown as the path
 * of the file, any other is not shown.
 */
export function describeConfig({ config, values, locate }: LoadedConfig): string {
  const { source: _source, isProduction: _isProduction, ...all } = config; // Not settings.
  const settings = membersOf(partOf(SETTINGS_TABLE, all)).map((part): [string, object] => {
    const [name = ''] = part.path;
    const { place, name: origin } = locate([name]);
    const unset = name === 'proxy' ? 'environment' : 'default'; // Only a proxy of HTTPS_PROXY or HTTP_PROXY has a value then.
    const from = values[name] === undefined ? unset : place ? `${place.source}:${place.line}` : origin;
    return [name, { value: redact(part), from }];
  });
  return `${JSON.stringify(Object.fromEntries(settings), null, 2)}\n`;
}

function redact(part: Part): unknown {
  const { value } = part;
  const { category } = withKind(part) ?? {};
  if (typeof value === 'string') {
    const isShown = category === undefined || category === 'path';
    return !isShown ? REDACTED : value.replace(/^(https?:[^?]*\?).+$/, '$1…'); // A query can contain a token.
  }
  if (Array.isArray(value)) {
    return membersOf(part).map(redact);
  }
  return typeof value === 'object' && value !== null && !(value instanceof URL)
    ? Object.fromEntries(membersOf(part).map((member) => [member.path.at(-1), redact(member)]))
    : value;
}
