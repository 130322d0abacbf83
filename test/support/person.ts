// A person to look for in every place where something about people can be.

/** A person, by what is only theirs. */
export const PERSON = {
  id: 'canary-person-71',
  email: 'canary-71@mail.example',
  phone: '4915700000071',
  firstName: 'Canary71',
  payload: 'canary-order-71',
};

/** Returns the members of the person that a text has. */
export const found = (text: string): string[] =>
  Object.entries(PERSON).flatMap(([name, value]) => (text.includes(value) ? [name] : []));
