// Reads the HTML that the service makes of texts and addresses: it escapes what events put into them.

import { decodeHTML, decodeHTMLStrict } from 'entities/decode';

/** Parts without text for people: comments, declarations, styles and scripts. Each ends with the text at the latest, which keeps this linear. */
const HIDDEN = /<!--[\s\S]*?(?:-->|$)|<(style|script|head|title)\b[\s\S]*?(?:<\/\1\s*>|$)|<[!?][^<>]*>/gi;

/** Tags after which people read on in a new line. */
const BREAKS = /<(?:br|hr)\b[^<>]*>|<\/(?:p|div|h[1-6]|li|tr|blockquote|pre|ul|ol|table|section|article)\s*>/gi;

/** A `<` that no letter follows is text, such as in `1 < 2` and `<3`. */
const TAGS = /<\/?[a-z][^<>]*>/gi;

/** Returns the text that people read in HTML: without tags, with line breaks, and with characters in place of entities. */
export const textOfHtml = (html: string): string =>
  /[<&]/.test(html)
    ? decodeHTML(html.replace(HIDDEN, '').replace(BREAKS, '\n').replace(TAGS, '')).replaceAll('\u00a0', ' ').trim()
    : html;

/** Returns an address that was escaped as HTML. Without a semicolon, `&copy` is a parameter and no sign. */
export const addressOfHtml = (html: string): string => (html.includes('&') ? decodeHTMLStrict(html) : html);

/** Schemes whose addresses run code or show made-up pages in the app that opens them. */
const UNSAFE_SCHEMES = /^(?:javascript|data|vbscript|blob|filesystem|view-source):$/;

/** Whether an address can be opened by a page: one of a web site or an app, or a path. Browsers ignore control characters in it, as this does. */
export const isSafeAddress = (address: string): boolean => {
  const url = URL.parse(address, 'https://app.invalid');
  return url !== null && !UNSAFE_SCHEMES.test(url.protocol);
};
