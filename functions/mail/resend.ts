import {
  type MailRequest,
  perform,
  SEND_TIMEOUT_MS,
  type SendMail,
  type SendResult,
} from '../channels/transport/send.ts'
import { extraHeaders } from './mail.ts'
import type { MailApiSettings, MailSettings, Sender } from './settings.ts'

/**
 * Sends through the HTTP mail API of Resend, or another one with its interface: `POST <url>/emails`. The id of the
 * delivery is the Idempotency-Key, so the API sends a repeated request once within 24 hours.
 */
export function createMailApi(
  { url, key }: MailApiSettings,
  {
    from,
    fetch: ask = fetch,
    timeout_ms = SEND_TIMEOUT_MS,
  }: { from: Sender; fetch?: typeof fetch; timeout_ms?: number },
): SendMail {
  return async (mail: MailRequest): Promise<SendResult> => {
    const signal = AbortSignal.timeout(timeout_ms)
    const result = await perform(
      () =>
        ask(`${url}/emails`, {
          method: 'POST',
          redirect: 'manual',
          signal,
          headers: {
            Authorization: `Bearer ${key}`,
            'Content-Type': 'application/json',
            'Idempotency-Key': mail.id,
          },
          body: JSON.stringify({
            from: `${quoted(from.name)} <${from.address}>`,
            to: [mail.to],
            subject: mail.subject,
            text: mail.text,
            html: mail.html,
            headers: extraHeaders(mail, from),
          }),
        }),
      { explain: () => (signal.aborted ? 'timeout' : 'unreachable') },
    )
    return result.ok ? result : { ...result, message: FAILURES[result.failure] ?? result.message }
  }
}

/** The mail API, where there is no SMTP; undefined when it is not set. */
export function mailByApi(settings: MailSettings | undefined): SendMail | undefined {
  return settings?.api && createMailApi(settings.api, settings)
}

const FAILURES: Record<string, string> = {
  timeout: 'The mail API of this service did not answer in time.',
  unreachable: 'The mail API of this service cannot be reached.',
}

/** A display name in quotes where it has characters that mean something in a header. */
function quoted(name: string): string {
  return /^[\p{L}\p{N} ]*$/u.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`
}
