import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import type { Config } from '../config.ts'
import type { Project } from '../db.ts'
import { readLicense, requireWritable } from '../license.ts'
import { countSkips, type Person, SKIPS } from './audience.ts'
import type { Claim, DraftRow } from './drafts.ts'
import { NO_ADDRESS, renderContent } from './rendering.ts'
import type { SenderDns } from './sender-dns.ts'
import { type MailPause, type MailSettings, viaOf } from './settings.ts'
import type { Today } from './today.ts'

/** One thing that has to be right before a mail goes out. */
export type Gate = {
  name: string
  ok: boolean
  /** Whether nothing goes out until it is right; else only some people are left out, or it is advice. */
  blocks: boolean
  detail: string
  way_out: string | null
}

/** What the gates look at besides the draft. */
export type Surroundings = {
  config: Config
  mail: MailSettings
  pause: MailPause
  today: Today
  dns: SenderDns | null
}

type Given = Surroundings & {
  sql: Sql
  project: Project
  draft: DraftRow
  people: Person[]
  without_email: number
}

const right = (name: string, detail: string): Gate => ({
  name,
  ok: true,
  blocks: false,
  detail,
  way_out: null,
})
const wrong = (name: string, detail: string, way_out: string): Gate => ({
  name,
  ok: false,
  blocks: true,
  detail,
  way_out,
})
const advice = (name: string, detail: string, way_out: string): Gate => ({
  ...wrong(name, detail, way_out),
  blocks: false,
})

/** gatesOf says for each gate whether it is open, what is the matter, and the way out. */
export async function gatesOf(given: Given): Promise<Gate[]> {
  return [
    await evidenceGate(given),
    ...(given.draft.state === 'rendered' ? [await freshGate(given)] : []),
    ...peopleGates(given),
    ...settingsGates(given),
    ...volumeGates(given),
    await licenceGate(given),
    ...dnsGates(given.dns),
  ]
}

/** Refuses a step while a gate that blocks is shut; each one is named. */
export function requireOpen(gates: Gate[]): void {
  const shut = gates.filter(({ ok, blocks }) => blocks && !ok)
  if (shut.length === 0) return
  const issues = shut.map(({ name, detail, way_out }) => ({
    path: `gates.${name}`,
    code: name,
    message: `${detail} ${way_out}`,
  }))
  const [first] = issues
  const more = issues.length > 1 ? ` ${issues.length - 1} more in "errors".` : ''
  throw new ApiError('conflict', `Not yet: ${first?.message}${more}`, { issues })
}

/** Claims that no evidence of this project (and, for a letter, of this lead) supports. */
export async function unsupported(
  sql: Sql,
  draft: Pick<DraftRow, 'project_id' | 'audience' | 'claims'>,
): Promise<Claim[]> {
  const ids = draft.claims.flatMap(({ evidence_ids }) => evidence_ids)
  const lead_id = draft.audience.kind === 'lead' ? draft.audience.lead_id : null
  const known = await sql<{ id: string }>`
    select id from hub.evidence
    where id = any(${ids}::uuid[]) and project_id = ${draft.project_id}
      and (lead_id is null or ${lead_id}::uuid is null or lead_id = ${lead_id}::uuid)`
  const found = new Set(known.map(({ id }) => id))
  return draft.claims.filter(({ evidence_ids }) => !evidence_ids.some((id) => found.has(id)))
}

async function evidenceGate({ sql, draft }: Given): Promise<Gate> {
  const claims = await unsupported(sql, draft)
  if (claims.length === 0) {
    return right('evidence', `${draft.claims.length} factual sentences, each with its evidence.`)
  }
  const [first] = claims
  return wrong(
    'evidence',
    `${claims.length} factual ${claims.length === 1 ? 'sentence cites' : 'sentences cite'} no evidence: "${first?.sentence}"`,
    'Change the sentence, or add evidence for it.',
  )
}

/** The approval is for what is shown; what would look different by now has to be rendered again. */
async function freshGate({ sql, project, config, draft }: Given): Promise<Gate> {
  const now = await renderContent(sql, project, config, draft)
  const isFresh =
    now.letter.html === draft.html &&
    now.letter.text === draft.rendered_text &&
    now.letter.subject === draft.rendered_subject &&
    now.campaign?.html === draft.campaign?.html
  if (isFresh) return right('rendering', 'As the settings are now.')
  return wrong(
    'rendering',
    'The sender, the footer, the look, the lead or the way of sending changed since.',
    'Render it again (draft/render).',
  )
}

function peopleGates({ people, without_email }: Given): Gate[] {
  const skips = countSkips(people)
  const gates = [...new Set(Object.values(SKIPS).map(({ gate }) => gate))].map((gate) => {
    const found = skips.filter(({ reason }) => SKIPS[reason].gate === gate)
    if (found.length === 0) return right(gate, 'Right for everybody.')
    const detail = found.map(({ count, words }) => `${count} left out: ${words}`).join('; ')
    return advice(gate, `${detail}.`, 'Correct the leads, or leave these people out.')
  })
  const count = people.filter(({ skip }) => !skip).length
  const missing = without_email > 0 ? ` ${without_email} leads have no e-mail address.` : ''
  const recipients =
    count > 0
      ? right('recipients', `${count} of ${people.length} people get it.${missing}`)
      : wrong(
          'recipients',
          `Nobody would get it: ${skips.map((one) => `${one.count} ${one.words}`).join('; ') || 'no lead of the audience has an e-mail address'}.`,
          'Correct the leads or choose another audience.',
        )
  return [recipients, ...gates]
}

function settingsGates({ config, mail, draft }: Given): Gate[] {
  const via = viaOf(mail, config, draft.audience.kind)
  const settings = 'Settings > Mail.'
  const link =
    via === 'campaign'
      ? right('unsubscribe', 'listmonk’s own unsubscribe link and headers.')
      : config.public_url
        ? right('unsubscribe', `One click, at ${config.public_url}.`)
        : wrong(
            'unsubscribe',
            'The unsubscribe link could not be reached: the hub has no public https address.',
            'Set "public_url" in hub.json to the https address recipients can reach.',
          )
  const hasAddress = mail.footer.postal_address && !draft.html?.includes(NO_ADDRESS)
  return [
    via
      ? right('transport', TRANSPORTS[via])
      : wrong('transport', 'No mail server is set.', `Enter listmonk or SMTP in ${settings}`),
    mail.sender
      ? right('sender', `${mail.sender.name} <${mail.sender.email}>`)
      : wrong('sender', 'Nobody signs the mail.', `Enter the sender in ${settings}`),
    link,
    hasAddress
      ? right('postal_address', mail.footer.postal_address ?? '')
      : wrong(
          'postal_address',
          'The footer has no postal address.',
          `Enter it in ${settings} Then render again.`,
        ),
  ]
}

const TRANSPORTS = {
  smtp: 'SMTP, one mail after the other.',
  tx: 'listmonk, as a single letter.',
  campaign: 'listmonk, as a campaign on a list of its own.',
} as const

const PAUSES: Record<NonNullable<MailPause['reason']>, string> = {
  admin: 'Mail is paused.',
  restored: 'Mail is paused since a backup was restored.',
  bounces: 'Mail is paused: too many mails bounced.',
  complaints: 'Mail is paused: too many mails were called spam.',
  agent: 'Mail is paused by an approved action of the system agent.',
}

function volumeGates({ today, pause }: Given): Gate[] {
  const { alarm, left, cap, used } = today
  const confirm = 'Find the cause, then confirm in Settings > Mail.'
  return [
    left > 0
      ? right('daily_cap', `${used} of today’s ${cap} mails are used.`)
      : advice('daily_cap', `Today’s ${cap} mails are used.`, 'It goes on tomorrow by itself.'),
    pause.reason
      ? wrong('paused', `${PAUSES[pause.reason]} ${pause.detail}`.trim(), confirm)
      : right('paused', 'Mail is not paused.'),
    ...(['bounces', 'complaints'] as const).map((name) => {
      if (alarm?.reason === name) return wrong(name, alarm.detail, confirm)
      const count = name === 'bounces' ? today.hard_bounces : today.complaints
      return right(name, `${count} of ${today.sent} mails.`)
    }),
  ]
}

async function licenceGate({ sql, project, config }: Given): Promise<Gate> {
  try {
    await requireWritable(sql, project, await readLicense(config))
    return right('licence', 'The licence covers this project.')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return wrong('licence', error.message, 'Enter a licence in Settings > Licence.')
  }
}

function dnsGates(dns: SenderDns | null): Gate[] {
  return (['spf', 'dkim', 'dmarc'] as const).map((name) => {
    const found = dns?.[name]
    if (found?.state === 'present') return right(name, found.record ?? 'Found.')
    if (found?.state === 'missing') return advice(name, `No ${name.toUpperCase()}.`, found.advice)
    return right(name, 'Not known: the DNS was not asked or did not answer.')
  })
}
