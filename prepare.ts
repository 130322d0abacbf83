import { execSync } from 'node:child_process';

// npm sets this variable if it makes a package of the checkout: in `npm pack`, `npm publish` and installations from git. Otherwise it
// installs the dependencies of the checkout, which runs from source and needs only GraphiQL's page.
const isPacked = process.env.npm_package_resolved !== undefined;

execSync(isPacked ? 'npm run build' : 'npm run build:graphiql', { stdio: 'inherit' });
