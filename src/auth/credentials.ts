/** A caller's `Authorization` header, checked for form and forwarded byte for byte. It is a secret: never log or show it. */
export type Credential = string & { readonly __brand: 'Credential' };

/** `ApiKey`, one space, then the key: visible ASCII without spaces (contract, section 5). Some are remembered, so that none may be too long. */
const WELL_FORMED = /^ApiKey [\x21-\x7e]{1,2048}$/;

/** Whether a header value has the only form that the service accepts. */
export const isCredential = (header: string): header is Credential => WELL_FORMED.test(header);
