import {
  AppWindow,
  BellRing,
  Hash,
  type LucideIcon,
  Mail,
  MessagesSquare,
  RadioTower,
  Send,
  Siren,
  Smartphone,
  Users,
  Webhook,
} from 'lucide-react'

type Setting = {
  name: string
  control: 'text' | 'secret' | 'number' | 'switch' | 'choice' | 'headers'
  isRequired?: boolean
  choices?: readonly string[]
}
type Kind = { icon: LucideIcon; settings: readonly Setting[] }

/** The kinds of channels, in the order in which they are offered, with the settings of each. */
export const KINDS = {
  webhook: { icon: Webhook, settings: [{ name: 'headers', control: 'headers' }] },
  email: { icon: Mail, settings: [] },
  slack: { icon: Hash, settings: [] },
  teams: { icon: Users, settings: [] },
  discord: { icon: MessagesSquare, settings: [{ name: 'thread_id', control: 'text' }] },
  telegram: {
    icon: Send,
    settings: [
      { name: 'bot_token', control: 'secret', isRequired: true },
      { name: 'thread_id', control: 'number' },
    ],
  },
  pagerduty: {
    icon: Siren,
    settings: [{ name: 'region', control: 'choice', choices: ['us', 'eu'] }],
  },
  ntfy: {
    icon: BellRing,
    settings: [
      { name: 'token', control: 'secret' },
      { name: 'username', control: 'text' },
      { name: 'password', control: 'secret' },
    ],
  },
  pushover: {
    icon: Smartphone,
    settings: [
      { name: 'app_token', control: 'secret', isRequired: true },
      { name: 'device', control: 'text' },
      { name: 'emergency', control: 'switch' },
    ],
  },
  mqtt: {
    icon: RadioTower,
    settings: [
      { name: 'username', control: 'text' },
      { name: 'password', control: 'secret' },
      { name: 'qos', control: 'choice', choices: ['1', '2'] },
      { name: 'retain', control: 'switch' },
    ],
  },
  webpush: { icon: AppWindow, settings: [] },
} as const satisfies Record<string, Kind>
export type KindName = keyof typeof KINDS

export const KIND_NAMES = Object.keys(KINDS) as KindName[] // safe: its keys

/** Where the address of a kind is made. */
export const LINKS: Partial<Record<KindName, string>> = {
  slack: 'https://api.slack.com/apps',
  telegram: 'https://t.me/BotFather',
  pushover: 'https://pushover.net/apps',
}

export function isKind(name: string | null | undefined): name is KindName {
  return name != null && Object.hasOwn(KINDS, name)
}

/** How the state of a channel looks. */
export const CHANNEL_TONES = {
  ok: 'good',
  failing: 'bad',
  disabled: 'plain',
  unconfirmed: 'warn',
} as const

export const settingsOf = (kind: KindName): readonly Setting[] => KINDS[kind].settings

export type Config = Record<string, unknown>

/** The settings of a channel as texts of a form. */
export function fieldsOf(kind: KindName, config: Config | null): Record<string, string> {
  return Object.fromEntries(
    settingsOf(kind).map(({ name, control, choices }) => {
      const value = config?.[name]
      if (control === 'headers') return [name, headerLines(value)]
      if (control === 'switch') return [name, value ? 'on' : '']
      return [name, value === undefined ? (choices?.[0] ?? '') : String(value)]
    }),
  )
}

/** The config that a form means; null when nothing is set. What the form does not show stays. */
export function configOf(
  kind: KindName,
  fields: Record<string, string>,
  before: Config | null,
): Config | null {
  const settings = settingsOf(kind)
  const kept = Object.entries(before ?? {}).filter(
    ([name]) => !settings.some((setting) => setting.name === name),
  )
  const given = settings.flatMap(({ name, control, choices }): [string, unknown][] => {
    const text = (fields[name] ?? '').trim()
    if (control === 'switch') {
      if (text === '') return []
      return [[name, before?.[name] || (name === 'emergency' ? {} : true)]]
    }
    // The first choice is what the service does by itself.
    if (text === '' || (text === choices?.[0] && before?.[name] === undefined)) return []
    if (control === 'headers') return [[name, headersOf(text)]]
    const isNumber = control === 'number' || name === 'qos'
    return [[name, isNumber && /^\d+$/.test(text) ? Number(text) : text]]
  })
  const all = [...kept, ...given]
  return all.length > 0 ? Object.fromEntries(all) : null
}

/** One header a line, as `Name: value`; a line without a colon is a header without a value. */
function headersOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(':')
      return [name.trim(), rest.join(':').trim()]
    }),
  )
}

function headerLines(value: unknown): string {
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([name, text]) => `${name}: ${text}`)
    .join('\n')
}
