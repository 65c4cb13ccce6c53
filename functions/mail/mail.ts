import type { MailRequest } from '../channels/transport/send.ts'
import type { Sender } from './settings.ts'

/** The id of a mail: the same on every attempt, so that a mail that came twice is shown once. */
export const messageId = (mail: MailRequest, from: Sender) => `<${mail.id}@${domainOf(from)}>`

/** The headers beside the usual ones, without the id. All values are ours and plain ASCII. */
export function extraHeaders(mail: MailRequest, from: Sender): Record<string, string> {
  const thread = mail.thread === null ? null : `<${mail.thread}@${domainOf(from)}>`
  return {
    // RFC 3834: no out-of-office note answers.
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
    ...(thread ? { References: thread } : {}),
    ...(thread && mail.is_reply ? { 'In-Reply-To': thread } : {}),
    ...(mail.unsubscribe_url
      ? {
          // RFC 8058: the mail program unsubscribes by itself.
          'List-Unsubscribe': `<${mail.unsubscribe_url}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        }
      : {}),
  }
}

const domainOf = ({ address }: Sender) => address.slice(address.lastIndexOf('@') + 1)
