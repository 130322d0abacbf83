import type { ErrorCode, YAMLParseError } from 'yaml';

/** Reasons in plain words. The library's messages quote the text, which may be a secret. */
const REASONS: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: 'an alias (*name) or anchor (&name) is invalid',
  BAD_DQ_ESCAPE: 'a backslash in double quotes must be written twice',
  BAD_INDENT: "the indentation doesn't match the lines above",
  BAD_SCALAR_START: 'a value that starts with a special character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second colon on a line; quote the value, or put the inner setting on its own line',
  BLOCK_IN_FLOW: 'an indented list or object is inside [ ] or { }',
  DUPLICATE_KEY: 'the setting is given twice',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing, or the indentation is wrong',
  MULTIPLE_DOCS: 'there is a second document after ---',
  TAB_AS_INDENT: 'a tab is used as indentation; use spaces',
  TAG_RESOLVE_FAILED: 'a tag (!name) is not supported',
  UNEXPECTED_TOKEN: 'there is an unexpected character',
};

/** Explains a syntax error without quoting the text. */
export function explainSyntaxError({ code, message }: YAMLParseError): string {
  const [, closing] = /end with a ([}\]])/.exec(message) ?? [];
  if (closing !== undefined) {
    return `the closing ${closing} is missing`;
  }
  if (code !== 'MISSING_CHAR') {
    return REASONS[code] ?? 'a syntax error';
  }
  if (/quote/.test(message)) {
    return 'a closing quote is missing';
  }
  if (/^Implicit map keys/.test(message)) {
    return 'a colon is missing after a name';
  }
  return /^Missing ,/.test(message) ? 'a comma is missing' : 'a character is missing';
}
