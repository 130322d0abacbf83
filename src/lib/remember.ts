/**
 * Remembers what a function made of each text, so that it is not made again.
 *
 * @param max so many are remembered; then it begins anew, for texts from outside could be ever new ones
 */
export function remember<T>(make: (text: string) => T, max: number): (text: string) => T {
  const made = new Map<string, { value: T }>();
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) {
      return known.value;
    }
    if (made.size >= max) {
      made.clear();
    }
    const value = make(text);
    made.set(text, { value });
    return value;
  };
}
