import type { Email } from 'postal-mime'
import { normaliseEmail } from '../address.ts'
import { messageIds, parseHeaders } from './headers.ts'
import { parseMail } from './parse.ts'

/** What a bounce says about one recipient (RFC 3464). */
type BouncedRecipient = {
  /** The address we wrote to, and the one it was finally delivered to, as far as they are known. */
  emails: string[]
  status: string
  permanent: boolean
}

/** A report in its proper form, recognised by its content and not by its name. */
export type Report = {
  kind: 'bounce' | 'complaint'
  /** Message-IDs of the returned mail: knowing one proves having received that mail. */
  original_ids: string[]
  bounced: BouncedRecipient[]
}

/**
 * Parts that contain the mail, or its header (RFC 3464, 5965 and 6522; the second in old servers).
 */
const RETURNED = /^(message\/(rfc822|rfc822-headers|global|global-headers)|text\/rfc822-headers)$/i
const STATUS = /^message\/(global-)?delivery-status$/i
/** "not-spam" and "auth-failure" have the same form, but are not complaints. */
const COMPLAINTS = /^(abuse|fraud|opt-out)$/i
const MAX_RECIPIENTS = 100

/**
 * readReport reads a delivery status notification (RFC 3464) or a complaint (RFC 5965). Returns
 * null for imitations: anybody can put MAILER-DAEMON into a From header.
 */
export async function readReport(source: Uint8Array): Promise<Report | null> {
  const { email } = await parseMail(source, {
    attachmentEncoding: 'utf8',
    forceRfc822Attachments: true,
  })
  if (!email) return null
  const type = headerOf(email, 'content-type')
  if (!/^\s*multipart\/report\s*;/i.test(type)) return null
  const kind = /\breport-type\s*=\s*"?([\w-]+)/i.exec(type)?.[1]?.toLowerCase()
  const original_ids = originalIds(email)
  if (kind === 'delivery-status') {
    const bounced = partsOf(email, STATUS).flatMap(recipientsOf).slice(0, MAX_RECIPIENTS)
    return bounced.length > 0 ? { kind: 'bounce', original_ids, bounced } : null
  }
  if (kind !== 'feedback-report') return null
  const [feedback] = partsOf(email, /^message\/feedback-report$/i)
  const said = parseHeaders(feedback ?? '').get('feedback-type') ?? ''
  return COMPLAINTS.test(said) ? { kind: 'complaint', original_ids, bounced: [] } : null
}

function headerOf({ headers }: Email, name: string): string {
  return headers.find(({ key }) => key === name)?.value ?? ''
}

function partsOf({ attachments }: Email, type: RegExp): string[] {
  return attachments
    .filter(({ mimeType }) => type.test(mimeType))
    .map(({ content }) => (typeof content === 'string' ? content : ''))
}

/**
 * From the returned mail's own header, or from the threading headers of servers that return none.
 */
function originalIds(email: Email): string[] {
  const returned = partsOf(email, RETURNED).map((part) => {
    const [head = ''] = part
      .replaceAll('\r\n', '\n')
      .trimStart()
      .split(/\n[ \t]*\n/)
    const headers = parseHeaders(head)
    return `${headers.get('message-id') ?? ''} ${headers.get('x-original-message-id') ?? ''}`
  })
  const threading = `${headerOf(email, 'in-reply-to')} ${headerOf(email, 'references')}`
  return [...new Set(messageIds([...returned, threading].join(' ')))]
}

/** The fields of each recipient are in their own block, after one for the whole report. */
function recipientsOf(part: string): BouncedRecipient[] {
  const blocks = part
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/)
    .map(parseHeaders)
  return blocks.flatMap((block) => {
    const told = ['original-recipient', 'final-recipient'].map((name) => block.get(name) ?? '')
    const emails = told.flatMap(
      (text) =>
        normaliseEmail(
          text
            .replace(/^[^;]*;/, '')
            .replace(/[<>]/g, '')
            .trim(),
        ) ?? [],
    )
    const status = /^\s*([245]\.\d{1,3}\.\d{1,3})\b/.exec(block.get('status') ?? '')?.[1]
    const action = block.get('action')?.trim().toLowerCase()
    if (emails.length === 0 || !status || !action || status.startsWith('2')) return []
    if (action !== 'failed' && action !== 'delayed') return []
    return [{ emails, status, permanent: action === 'failed' && status.startsWith('5') }]
  })
}
