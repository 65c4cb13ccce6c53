import { personalOf } from '../../mail/drafts/audience.ts'
import { filled } from '../../mail/render/placeholders.ts'

/** fillIn puts what a mail says of its reader into a sentence, as the mail will have it. */
export function fillIn(sentence: string, reader: Parameters<typeof personalOf>[0]): string {
  return filled(sentence, personalOf(reader))
}
