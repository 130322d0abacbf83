// The version of this package. `npm run codegen` writes it from package.json.

export const VERSION = '1.0.0';
