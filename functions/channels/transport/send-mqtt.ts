import { randomBytes } from 'node:crypto'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import type { Resolve } from './plain-http.ts'
import {
  failedSend,
  type MqttRequest,
  SEND_TIMEOUT_MS,
  type SendFailure,
  type SendMqtt,
} from './send.ts'
import { explain, guardedLookup, resolveAll } from './send-node.ts'
import { type AllowList, checkTarget, httpTwin } from './target.ts'

const MQTT_3_1_1 = 4

/**
 * Publishes over MQTT 3.1.1, with a connection for each message, and waits until the broker has confirmed it.
 * Addresses are checked in the lookup of the connection itself, as those of HTTP are.
 */
export function mqttSender({
  allow,
  resolve = resolveAll,
  timeout_ms = SEND_TIMEOUT_MS,
  ca,
}: {
  allow: AllowList
  resolve?: Resolve
  timeout_ms?: number
  /** Authorities to trust instead of those of the runtime, in PEM. */
  ca?: string
}): SendMqtt {
  return async (request) => {
    // A literal address is connected to without a lookup, so it is checked here.
    if (!checkTarget(httpTwin(request.url) ?? '', { allow }).ok) return failedSend('refused')
    const { hostname, port, protocol } = new URL(request.url)
    const is_plain = protocol === 'mqtt:'
    const host = hostname.replace(/^\[|\]$/g, '')
    const lookup = guardedLookup({ allow, resolve, is_plain })
    const open = () =>
      is_plain
        ? net.connect({ host, port: Number(port || 1883), lookup })
        : tls.connect({
            host,
            port: Number(port || 8883),
            lookup,
            ...(ca ? { ca } : {}),
            ...(net.isIP(host) ? {} : { servername: host }),
          })
    const started = performance.now()
    const answer = await publish(request, open, timeout_ms)
    const duration_ms = Math.round(performance.now() - started)
    if (typeof answer === 'string') return failedSend(answer, duration_ms)
    return { ok: true, status: answer, headers: new Headers(), body: '', duration_ms }
  }
}

/** Publishes once. Returns the code of CONNACK (MQTT 3.1.1 §3.2.2.3), 0 when the message was confirmed; or why not. */
async function publish(
  { topic, payload, qos, retain, username, password }: MqttRequest,
  open: () => Socket,
  timeout_ms: number,
): Promise<number | SendFailure> {
  const { MqttClient } = await import('mqtt')
  return new Promise((resolve) => {
    const client = new MqttClient(open, {
      protocolVersion: MQTT_3_1_1,
      clientId: `watchpost-${randomBytes(6).toString('hex')}`,
      clean: true,
      // The queue tries again, not the client.
      reconnectPeriod: 0,
      // The timer below ends it first.
      connectTimeout: 2 * timeout_ms,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
    })
    const settle = (answer: number | SendFailure) => {
      clearTimeout(timer)
      resolve(answer)
      client.end(true)
    }
    const timer = setTimeout(() => settle('timeout'), timeout_ms)
    client.on('error', (error) => settle(refusalOf(error) ?? explain(error)))
    // Also after the connection was lost with a message unconfirmed.
    client.on('close', () => settle('unreachable'))
    client.on('connect', () => {
      client.publish(topic, payload, { qos, retain }, (error) => {
        if (!error) settle(0)
      })
    })
  })
}

/** The code with which a broker refuses a connection. */
function refusalOf(error: Error): number | undefined {
  const code = 'code' in error ? error.code : undefined
  return typeof code === 'number' ? code : undefined
}
