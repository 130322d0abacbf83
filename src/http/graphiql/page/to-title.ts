/** Returns an operation's name as words: `Update workflow status`. */
export function toTitle(name: string): string {
  const words = name.replace(/([a-z\d])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
  return name === '<untitled>' ? 'New tab' : words.charAt(0).toUpperCase() + words.slice(1);
}
