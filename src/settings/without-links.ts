/** Replaces the links of a description by their texts: they lead nowhere outside the docs. */
export const withoutLinks = (markdown: string): string => markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
