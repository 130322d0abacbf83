// The version of this package, which `test/package-references.test.ts` compares with that in package.json.

export const VERSION = '1.0.0';
