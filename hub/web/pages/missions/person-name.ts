type Person = { id: string; name: string | null; company: string | null; email: string | null }

const plainName = ({ name, company, email }: Person) =>
  name && company ? `${name}, ${company}` : (name ?? company ?? email ?? '')

/**
 * personName names somebody among others: by name and company, and by the e-mail where another one has
 * the same, so that nobody takes one for the other.
 */
export function personName(person: Person, others: Person[]): string {
  const name = plainName(person)
  const isTwice = others.some((one) => one.id !== person.id && plainName(one) === name)
  const own = person.name ?? person.company
  return isTwice && person.email && own ? `${own}, ${person.email}` : name
}
