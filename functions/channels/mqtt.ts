import { z } from 'zod'
import type { ChannelKind, Classification, Issue } from './channel.ts'
import type { MqttRequest, SendResult } from './transport/send.ts'
import { type AllowList, checkTarget, httpTwin } from './transport/target.ts'
import { fitsIntoBody, renderBody } from './webhook.ts'

const MAX_TOPIC_BYTES = 500

const MqttConfig = z.strictObject({
  username: z.string().min(1).max(500).optional(),
  password: z.string().min(1).max(500).optional(),
  qos: z
    .union([z.literal(1), z.literal(2)], {
      error: 'Must be 1 or 2: with 0 a broker does not confirm a message.',
    })
    .default(1),
  retain: z.boolean().default(false),
})

/** A topic of an MQTT broker. The messages are those of a webhook, with their id and without a signature. */
export const mqtt: ChannelKind<MqttRequest> = {
  kind: 'mqtt',
  transport: 'mqtt',
  schedule: 'webhook',
  pace: null,
  check({ target, config, allow }) {
    return [...checkBroker(target, allow), ...checkConfig(config)]
  },
  host: (target) => new URL(target).host,
  mask: (target) => (URL.canParse(target) ? `${brokerOf(target)}/…` : '…'),
  fits: fitsIntoBody,
  async render({ id, notification, target, config }): Promise<MqttRequest> {
    const { data: settings } = MqttConfig.safeParse(config ?? {})
    if (!settings) throw new Error('the config of this channel was checked when it was saved')
    return {
      transport: 'mqtt',
      url: brokerOf(target),
      topic: topicOf(target) ?? '',
      payload: `{"id":${JSON.stringify(id)},${renderBody(notification).slice(1)}`,
      ...settings,
    }
  },
  classify,
}

/** The address of the broker, without the topic. */
function brokerOf(target: string): string {
  const { protocol, host } = new URL(target)
  return `${protocol}//${host}`
}

/** The topic, which is the path of the URL without its first slash; undefined when it is not valid UTF-8. */
function topicOf(target: string): string | undefined {
  try {
    return decodeURIComponent(new URL(target).pathname.slice(1))
  } catch {
    return undefined
  }
}

const FORM = 'mqtts://broker.example.com:8883/watchpost/alerts'

function checkBroker(target: string, allow: AllowList): Issue[] {
  const issue = (code: string, message: string) => [{ path: 'target', code, message }]
  const twin = httpTwin(target)
  if (!twin) {
    return issue('scheme', `Send the broker and the topic as a URL such as ${FORM}.`)
  }
  const checked = checkTarget(twin, { allow })
  if (!checked.ok) return issue(checked.code, MESSAGES[checked.code] ?? checked.message)
  const { search, hash } = new URL(target)
  if (search || hash) {
    return issue(
      'malformed',
      'The topic must not contain "?" or "#". Write %3F where a topic really has a question mark.',
    )
  }
  const topic = topicOf(target)
  if (!topic) return issue('topic', `Name the topic after the broker: ${FORM}.`)
  // MQTT 3.1.1 §4.7: names of topics have no wildcards and no NUL; those that begin with $ are the broker's.
  if (/[+#\0]/.test(topic) || topic.startsWith('$')) {
    return issue(
      'topic',
      'A topic to publish to has no "+", "#" or NUL and does not begin with "$".',
    )
  }
  if (new TextEncoder().encode(topic).length > MAX_TOPIC_BYTES) {
    return issue('topic', `The topic must have at most ${MAX_TOPIC_BYTES} bytes.`)
  }
  return []
}

/** Where the words of `checkTarget` are about HTTP. */
const MESSAGES: Partial<Record<string, string>> = {
  credentials:
    'Must not contain a user name or password. Send them in config.username and config.password.',
  plain_http:
    'Use mqtts://. Plain mqtt:// is only for hosts that the operator permits in ALLOW_PRIVATE_TARGETS.',
}

function checkConfig(config: unknown): Issue[] {
  const read = MqttConfig.safeParse(config ?? {})
  if (read.success) return []
  return read.error.issues.map(({ path, code, message }) => ({
    path: ['config', ...path].join('.'),
    code,
    message,
  }))
}

/** The codes with which a broker refuses a connection (MQTT 3.1.1 §3.2.2.3). */
const REFUSALS = new Map<number, Pick<Classification, 'outcome' | 'error'>>([
  [1, { outcome: 'fail_permanent', error: 'The broker does not speak MQTT 3.1.1.' }],
  [2, { outcome: 'retry', error: 'The broker refused the client identifier.' }],
  [3, { outcome: 'retry', error: 'The broker says that it is not available.' }],
  [
    4,
    {
      outcome: 'disable_channel',
      error: 'The broker refused the user name or password. Send the right ones in config.',
    },
  ],
  [
    5,
    {
      outcome: 'disable_channel',
      error:
        'The broker does not permit this client to connect. Check its user name and its rights.',
    },
  ],
])

function classify(result: SendResult): Classification {
  const base = { throttled: false, counted: true }
  if (!result.ok) {
    const outcome = result.failure === 'refused' ? 'fail_permanent' : 'retry'
    return { ...base, outcome, error: result.message }
  }
  if (result.status === 0) return { ...base, outcome: 'ok' }
  const refusal = REFUSALS.get(result.status)
  const error = `The broker refused the connection with code ${result.status}.`
  return { ...base, ...(refusal ?? { outcome: 'retry', error }) }
}
