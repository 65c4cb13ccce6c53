import { createHash } from 'node:crypto'
import MailComposer from 'nodemailer/lib/mail-composer'
import { z } from 'zod'

const HeaderText = z
  .string()
  .max(500)
  .regex(/^\P{Cc}*$/u, 'must be one line')
const Address = z
  .string()
  .max(254)
  .regex(/^[^\s<>"(),:;[\]\\@]+@[^\s<>"(),:;[\]\\@]+$/, 'must be one e-mail address')
const MessageId = z
  .string()
  .max(500)
  .regex(/^<[^\s<>]+>$/, 'must be a message id in angle brackets')

const Mailbox = z.object({ name: HeaderText.optional(), address: Address })

/** A complete mail to one recipient: nothing is filled in after this. */
export const OutgoingMail = z.object({
  from: Mailbox,
  to: Mailbox,
  reply_to: Mailbox.optional(),
  subject: HeaderText.min(1),
  /** Absent: the mail is plain text, as a person writes one. */
  html: z.string().min(1).optional(),
  text: z.string().min(1),
  message_id: MessageId,
  date: z.date(),
  /** Unsubscribes at once on a POST (RFC 8058). Absent in answers and tests, which go to one who asked. */
  unsubscribe_url: z
    .url({ protocol: /^https$/ })
    .max(1000)
    .regex(/^[!-;=?-~]+$/, 'must be plain ASCII')
    .optional(),
  /** The mail that this one follows, so that both are in one thread. */
  in_reply_to: MessageId.optional(),
  references: z.array(MessageId).max(20).optional(),
})
export type OutgoingMail = z.input<typeof OutgoingMail>

/** Whether a text can be the subject of a mail: one line that is neither empty nor too long. */
export const isSubject = (text: string) => OutgoingMail.shape.subject.safeParse(text).success

/** Whether a header may name a mail by this; what others write as their Message-ID may be anything. */
export const isMessageId = (text: string) => MessageId.safeParse(text).success

/** The Message-ID of a draft's mail to a recipient; the same for every attempt. */
export function messageId(draft_id: string, recipient: string, from: string): string {
  const digest = createHash('sha256')
    .update(`${draft_id}\n${recipient.toLowerCase()}`)
    .digest('hex')
  return `<${digest.slice(0, 40)}@${from.slice(from.lastIndexOf('@') + 1).toLowerCase()}>`
}

/** The headers for one-click unsubscribing, also for listmonk's transactional mails. */
export function unsubscribeHeaders(url: string): Record<string, string> {
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

/** The bytes of a mail with both parts; pictures given as data: are included. */
export async function compose(mail: OutgoingMail): Promise<Buffer> {
  const checked = OutgoingMail.parse(mail)
  const { html, attachments } = embedPictures(checked.html)
  const { unsubscribe_url } = checked
  const composer = new MailComposer({
    from: mailbox(checked.from),
    to: mailbox(checked.to),
    replyTo: checked.reply_to ? mailbox(checked.reply_to) : undefined,
    subject: checked.subject,
    html,
    text: checked.text,
    attachments,
    messageId: checked.message_id,
    inReplyTo: checked.in_reply_to,
    references: checked.references ?? checked.in_reply_to,
    date: checked.date,
    headers: unsubscribe_url ? unsubscribeHeaders(unsubscribe_url) : {},
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

function mailbox({ name, address }: z.infer<typeof Mailbox>) {
  return { name: name ?? '', address }
}

/** Mail programs do not show data: pictures, but those that are attached and referred to by cid. */
function embedPictures(source: string | undefined) {
  const attachments: { cid: string; path: string; filename: string }[] = []
  const html = source?.replace(
    /src="(data:image\/(png|jpeg|gif|webp);base64,[^"]+)"/g,
    (_, path: string, kind: string) => {
      const cid = `${createHash('sha256').update(path).digest('hex').slice(0, 24)}@picture`
      if (!attachments.some((each) => each.cid === cid)) {
        attachments.push({ cid, path, filename: `picture.${kind}` })
      }
      return `src="cid:${cid}"`
    },
  )
  return { html, attachments }
}
