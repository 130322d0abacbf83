/** Addresses of the services, inserted by vite.config.ts. They are no secrets, and there is nothing else to configure. */
export const GATEWAY_URL: string = import.meta.env.VITE_GATEWAY_URL;
export const ISSUER_URL: string = import.meta.env.VITE_ISSUER_URL;
