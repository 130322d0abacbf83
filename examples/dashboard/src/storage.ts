// Keeps values in this browser.

/** Reads a value that this browser keeps, or undefined if there is none or it is unreadable. */
export function readStored(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined; // Browsers can forbid storage, and anybody can edit it.
  }
}

/** Keeps a value in this browser, or removes it if it is undefined. If the browser forbids that, the value lasts as long as the page. */
export function writeStored(key: string, value: unknown): void {
  try {
    if (value === undefined) {
      localStorage.removeItem(key);
    } else {
      localStorage.setItem(key, JSON.stringify(value));
    }
  } catch {
    // Storage is full or forbidden.
  }
}
