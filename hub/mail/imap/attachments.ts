import type { MessageStructureObject } from 'imapflow'

/** A file that came with a mail, as the mail names it. Nobody opens it here. */
export type Attachment = { name: string; type: string; bytes: number }

const MAX_ATTACHMENTS = 20
const MAX_DEPTH = 10

/** attachmentsOf names the files in the structure of a mail; more than 20 are left out. */
export function attachmentsOf(structure: MessageStructureObject | undefined): Attachment[] {
  return (structure ? filesIn(structure, 0) : []).slice(0, MAX_ATTACHMENTS)
}

function filesIn(node: MessageStructureObject, depth: number): Attachment[] {
  if (depth > MAX_DEPTH) return []
  // A mail that is attached to a mail is one file.
  const isMail = node.type.toLowerCase() === 'message/rfc822'
  if (node.childNodes && !isMail) return node.childNodes.flatMap((one) => filesIn(one, depth + 1))
  const named = node.dispositionParameters?.filename ?? node.parameters?.name
  if (node.disposition?.toLowerCase() !== 'attachment' && !named && !isMail) return []
  const type = visible(node.type).toLowerCase()
  return [{ name: plain(named ?? '') || type, type, bytes: node.size ?? 0 }]
}

/** A name without folders. */
function plain(name: string): string {
  return visible(name).replace(/^.*[/\\](?=[^/\\])/, '')
}

/** Without control characters and marks that turn the direction of writing. */
function visible(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]+/gu, '')
    .trim()
    .slice(0, 200)
    .toWellFormed()
}
