/** Type of a JSON value. */
export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** Values that the contract permits at one place of a response. */
export interface Shape {
  /** Permitted types. @default all; the value is free-form */
  types?: readonly JsonType[];
  /** All permitted values. @default any value of the types */
  values?: readonly string[];
  /** Items of a list. @default free-form */
  items?: Shape;
  /** Known fields of an object. @default free-form */
  fields?: Readonly<Record<string, Shape>>;
  /** Fields that are always present. @default none */
  required?: readonly string[];
}
