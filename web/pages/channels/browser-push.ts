import { api, ok } from '../../api/client.ts'

type Words = { not_allowed: string; no_push: string }

/**
 * subscribe asks the browser to take notifications, and returns where they are to be sent. Throws a
 * sentence for the reader when it does not.
 */
export async function subscribe(
  words: Words,
): Promise<{ target: string; config: Record<string, string> }> {
  if (!('serviceWorker' in navigator && 'PushManager' in window)) throw new PushError(words.no_push)
  if ((await Notification.requestPermission()) !== 'granted') throw new PushError(words.not_allowed)
  const { public_key } = await ok(api.GET('/api/v1/web-push'))
  const registration = await navigator.serviceWorker.register('./push.js')
  await navigator.serviceWorker.ready
  const subscription = await registration.pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: public_key })
    .catch((cause) => {
      throw new PushError(words.no_push, { cause })
    })
  const { endpoint, keys } = subscription.toJSON()
  if (!endpoint || !keys) throw new PushError(words.no_push)
  return { target: endpoint, config: keys }
}

/** Why the browser takes no notifications, in the reader's words. */
export class PushError extends Error {}
