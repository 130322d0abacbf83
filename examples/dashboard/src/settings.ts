/** Where the services are: vite.config.ts puts the addresses in. Neither is a secret, and there is nothing else to configure. */
export const GATEWAY_URL: string = import.meta.env.VITE_GATEWAY_URL;
export const ISSUER_URL: string = import.meta.env.VITE_ISSUER_URL;
