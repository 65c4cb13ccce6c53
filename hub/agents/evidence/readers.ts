import { personalOf } from '../../mail/drafts/audience.ts'

/** fillIn puts a reader's name and company into a sentence, as the mail will have it. */
export function fillIn(
  sentence: string,
  reader: { name: string | null; company: string | null },
): string {
  const personal = personalOf(reader)
  return sentence.replace(
    /( ?)\{(first_name|name|company)\}/g,
    (_, space: string, field: 'first_name' | 'name' | 'company') =>
      personal[field] ? space + personal[field] : '',
  )
}
