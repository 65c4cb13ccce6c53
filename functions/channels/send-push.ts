import { buildPushPayload } from '@block65/webcrypto-web-push'
import { failedSend, type SendBytes, type SendPush } from './send.ts'

/** The key pair by which push services know this service (RFC 8292), in base64url, and how to reach its operator. */
export type Vapid = {
  /** An uncompressed point on P-256: 65 bytes. */
  public_key: string
  /** 32 bytes. */
  private_key: string
  /** A `mailto:` or `https:` URL. */
  subject: string
}

/** Sends notifications to browsers, encrypted for each (RFC 8291) and padded, so that none tells its length. */
export function pushSender(vapid: Vapid, send: SendBytes): SendPush {
  const keys = {
    publicKey: vapid.public_key,
    privateKey: vapid.private_key,
    subject: vapid.subject,
  }
  return async ({ endpoint, keys: { p256dh, auth }, payload, ttl_seconds, urgency, topic }) => {
    const options = { ttl: ttl_seconds, urgency, ...(topic === null ? {} : { topic }) }
    const subscription = { endpoint, expirationTime: null, keys: { p256dh, auth } }
    let request: Awaited<ReturnType<typeof buildPushPayload>>
    try {
      request = await buildPushPayload({ data: payload, options }, subscription, keys)
    } catch {
      // The error may quote a key.
      return {
        ...failedSend('refused'),
        message:
          'The message could not be encrypted: VAPID_PUBLIC_KEY and VAPID_PRIVATE_KEY must be a pair, and the keys of the subscription those of a browser.',
      }
    }
    // The client that sends it sets the length itself.
    const { 'content-length': _, ...headers } = request.headers
    return send({ url: endpoint, method: 'POST', headers, body: request.body })
  }
}
