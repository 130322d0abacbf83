// Lets test files declare which functions they prove.

/** Declares that this test file proves the conditions of a function, such as `Lane.release`. `npm run guards` reads it. */
export function guards(_file: string, _name: string): void {}
