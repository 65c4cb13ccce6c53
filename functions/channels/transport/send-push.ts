import { buildPushPayload } from '@block65/webcrypto-web-push'
import type { Seal } from '../../seal.ts'
import { failedSend, type SendBytes, type SendPush } from './send.ts'
import { type VapidKeys, vapidKeys, vapidSubject } from './vapid.ts'

type Operator = { seal: Seal; contact: string | undefined; public_url: string | null }

/** Sends notifications to browsers; undefined where push services could not reach the operator. */
export function createPush(operator: Operator, send: SendBytes): SendPush | undefined {
  const subject = vapidSubject(operator)
  if (!subject) return undefined
  let keys: Promise<VapidKeys> | undefined
  return async (request) => {
    keys ??= vapidKeys(operator.seal)
    return pushSender({ ...(await keys), subject }, send)(request)
  }
}

/** Sends notifications to browsers, encrypted for each (RFC 8291) and padded, so that none tells its length. */
export function pushSender(vapid: VapidKeys & { subject: string }, send: SendBytes): SendPush {
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
      const message =
        'The notification could not be encrypted for this browser. Let the browser subscribe again.'
      return { ...failedSend('refused'), message }
    }
    // The client that sends it sets the length itself.
    const { 'content-length': _, ...headers } = request.headers
    return send({ url: endpoint, method: 'POST', headers, body: request.body })
  }
}
