/** `Authorization` header with an API key, checked for form and forwarded unchanged. It is a secret: never log or return it. */
export type Credential = string & { readonly __brand: 'Credential' };

/** `ApiKey`, one space, then the key: visible ASCII without spaces (contract, section 5). The length is limited because keys are cached. */
const WELL_FORMED = /^ApiKey [\x21-\x7e]{1,2048}$/;

/** Whether a header value is an API key in the form that the service accepts. */
export const isCredential = (header: string): header is Credential => WELL_FORMED.test(header);
