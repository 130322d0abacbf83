/** Replaces the links of a description by their texts: they lead nowhere outside the docs. */
export const withoutLinks = (markdown: string): string => markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

/** Returns the text of Markdown, without links and the marks of code. */
export const withoutMarkdown = (markdown: string): string => withoutLinks(markdown).replaceAll('`', '');
