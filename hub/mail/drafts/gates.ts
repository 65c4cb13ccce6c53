import { ApiError } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import type { Config } from '../../config.ts'
import type { Project } from '../../db/db.ts'
import { failureOf } from '../../i18n/failure.ts'
import { bilingual, joined, perLanguage, verbatim, type Words } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { type Brand, type From, fromOf } from '../brand/brand.ts'
import { lacksAddress } from '../brand/brand-parts.ts'
import type { Placeholders } from '../render/placeholders.ts'
import { renderContent } from '../render/rendering.ts'
import { type MailPause, type MailSettings, viaOf } from '../settings.ts'
import type { SenderDns } from '../smtp/sender-dns.ts'
import { type Today, volumeOf } from '../today.ts'
import { countSkips, type Person, SKIPS } from './audience.ts'
import type { DraftRow } from './drafts.ts'
import { gateText } from './gates.text.ts'
import { isOpen, type JudgedSentence } from './judged.ts'

const say = bilingual(gateText)

/** A condition that must be met before a mail is sent. */
export type Gate = {
  name: string
  ok: boolean
  /**
   * Whether nothing is sent until it is met; otherwise only some recipients are skipped, or it is
   * advice.
   */
  blocks: boolean
  detail: Words
  way_out: Words | null
}

/** What the gates check in addition to the draft. */
export type GateInputs = {
  config: Config
  mail: MailSettings
  pause: MailPause
  today: Today
}

type Given = GateInputs & {
  sql: Sql
  project: Project
  draft: DraftRow
  people: Person[]
  without_email: number
  sentences: JudgedSentence[]
  brand: Brand
  /** What the placeholders in it name. */
  named: Placeholders
  /** The DNS records of the brand's sender. */
  dns: SenderDns | null
}

const right = (name: string, detail: Words): Gate => ({
  name,
  ok: true,
  blocks: false,
  detail,
  way_out: null,
})
const wrong = (name: string, detail: Words, way_out: Words): Gate => ({
  name,
  ok: false,
  blocks: true,
  detail,
  way_out,
})
const advice = (name: string, detail: Words, way_out: Words): Gate => ({
  ...wrong(name, detail, way_out),
  blocks: false,
})

/** gatesOf returns for each gate whether it is open, what is wrong, and what to do. */
export async function gatesOf(given: Given): Promise<Gate[]> {
  return [
    evidenceGate(given.sentences),
    ...(given.draft.state === 'rendered' ? [await freshGate(given)] : []),
    fieldsGate(given),
    ...peopleGates(given),
    ...settingsGates(given),
    ...volumeGates(given),
    await licenseGate(given),
    ...dnsGates(given.dns),
  ]
}

/** Refuses a step while a blocking gate is closed, and names each one. */
export function requireOpen(gates: Gate[]): void {
  const shut = gates.filter(({ ok, blocks }) => blocks && !ok)
  if (shut.length === 0) return
  const issues = shut.map((gate) => ({
    path: `gates.${gate.name}`,
    code: gate.name,
    message: wordsOf(gate),
  }))
  const [first, ...others] = issues
  if (!first) return
  const more = others.length > 0 ? [say.more(others.length)] : []
  throw new ApiError('conflict', joined([say.not_yet, first.message, ...more]), { issues })
}

/** What is wrong, and what to do. */
export const wordsOf = ({ detail, way_out }: Gate): Words =>
  way_out ? joined([detail, way_out]) : detail

/** Open if every sentence is harmless or supported, or a person stands for it. */
function evidenceGate(sentences: JudgedSentence[]): Gate {
  const shut = sentences.filter((one) => !isOpen(one))
  const [first] = shut
  if (!first) {
    const stood = sentences.filter(({ stand }) => stand !== null).length
    const proven = sentences.filter(({ verdict }) => verdict === 'supported').length
    return right('evidence', stood > 0 ? say.stood_for(proven, stood) : say.evidence(proven))
  }
  const against = shut.find(({ verdict }) => verdict === 'contradicted')
  const detail = against
    ? say.contradicted(shut.length, against.sentence)
    : say.no_evidence(shut.length, first.sentence)
  return wrong('evidence', detail, say.add_evidence)
}

/**
 * The approval covers what is shown, so whatever would look different now must be rendered again.
 */
async function freshGate({ sql, project, config, draft }: Given): Promise<Gate> {
  const now = await renderContent(sql, project, config, draft)
  const isFresh =
    now.mail.html === draft.html &&
    now.mail.text === draft.rendered_text &&
    now.mail.subject === draft.rendered_subject &&
    now.campaign?.html === draft.campaign?.html
  if (isFresh) return right('rendering', say.fresh)
  return wrong('rendering', say.stale, say.render_again)
}

/** Recipients whom a gate names. */
const NAMED = 5

/** Whether every placeholder is a field, and whose is empty. */
function fieldsGate({ people, named }: Given): Gate {
  const tokens = (keys: string[]) => keys.map((key) => `{${key}}`).join(', ')
  const faults = [
    ...(named.unknown.length > 0 ? [say.no_field(tokens(named.unknown))] : []),
    ...(named.unfit.length > 0 ? [say.unfit(tokens(named.unfit))] : []),
  ]
  if (faults.length > 0) return wrong('fields', joined(faults), say.correct_fields)
  const lacking = people.filter(({ skip }) => skip === 'empty_field')
  if (lacking.length === 0) return right('fields', say.for_everybody)
  const labels = [...new Set(lacking.flatMap(({ empty }) => empty))]
  const empty = labels.map((label) => {
    const whose = lacking.filter((one) => one.empty.includes(label))
    const names = whose.slice(0, NAMED).map(({ name, email }) => name ?? email)
    return say.empty(label, names.join(', '), whose.length - names.length)
  })
  const detail = joined([...empty, say.left_out_empty(lacking.length)])
  return advice('fields', detail, say.fill_fields)
}

function peopleGates({ people, without_email }: Given): Gate[] {
  const skips = countSkips(people)
  const others = new Set<string>(Object.values(SKIPS))
  others.delete('fields')
  const gates = [...others].map((gate) => {
    const found = skips.filter(({ reason }) => SKIPS[reason] === gate)
    if (found.length === 0) return right(gate, say.for_everybody)
    const left_out = found.map(({ count, words }) => say.left_out(count, words))
    const detail = perLanguage((language) => `${joined(left_out, '; ')[language]}.`)
    return advice(gate, detail, say.correct_leads)
  })
  const count = people.filter(({ skip }) => !skip).length
  const missing = without_email > 0 ? [say.without_email(without_email)] : []
  const whole = joined([say.recipients(count, people.length), ...missing])
  const recipients =
    count > 0 ? right('recipients', whole) : wrong('recipients', nobody(skips), say.other_audience)
  return [recipients, ...gates]
}

function nobody(skips: ReturnType<typeof countSkips>): Words {
  return perLanguage((language) => {
    const why = skips.map(({ count, words }) => `${count} ${words[language]}`).join('; ')
    return gateText[language].nobody(why || gateText[language].no_address)
  })
}

function settingsGates({ config, mail, brand, draft }: Given): Gate[] {
  const via = viaOf(mail, config, draft.sequence_id ? 'step' : draft.audience.kind)
  const link =
    via === 'campaign'
      ? right('unsubscribe', say.unsubscribe_listmonk)
      : config.public_url
        ? right('unsubscribe', say.unsubscribe(config.public_url))
        : wrong('unsubscribe', say.unreachable, say.set_public_url)
  const from = fromOf(brand)
  // Checked in the text part, because HTML escapes it.
  const hasAddress = brand.postal_address && !lacksAddress(draft.rendered_text ?? '')
  return [
    via
      ? right('transport', say.transports[via])
      : draft.sequence_id && mail.listmonk
        ? wrong('transport', say.step_by_smtp, say.enter_smtp)
        : wrong('transport', say.no_transport, say.enter_transport),
    from
      ? right('sender', verbatim(`${from.name} <${from.email}>`))
      : wrong('sender', say.no_sender, say.enter_sender),
    link,
    hasAddress
      ? right('postal_address', verbatim(brand.postal_address ?? ''))
      : wrong('postal_address', say.no_postal_address, say.enter_postal_address),
  ]
}

function volumeGates({ today, pause, mail, brand }: Given): Gate[] {
  const { alarm } = today
  return [
    capGate(today, mail, fromOf(brand)),
    pause.reason
      ? wrong('paused', whyPaused(pause.reason, pause.detail), say.confirm)
      : right('paused', say.not_paused),
    ...(['bounces', 'complaints'] as const).map((name) => {
      if (alarm?.reason === name) return wrong(name, alarm.detail, say.confirm)
      const count = name === 'bounces' ? today.hard_bounces : today.complaints
      return right(name, say.of_mails(count, today.sent))
    }),
  ]
}

/** What the sender may send today by its ramp, and all senders together by the daily limit. */
function capGate(today: Today, mail: MailSettings, from: From | null): Gate {
  const { left, cap, used, day } = volumeOf(today, mail, from)
  const isOfAll = !mail.ramp || !from || today.left === 0
  if (left === 0) {
    const why = isOfAll ? say.used_up(today.cap) : say.ramp_used_up(from.email, cap, day)
    return advice('daily_cap', why, say.tomorrow)
  }
  return right(
    'daily_cap',
    isOfAll ? say.used(today.used, today.cap) : say.ramp_used(from.email, used, cap, day),
  )
}

function whyPaused(reason: NonNullable<MailPause['reason']>, detail: Words | null): Words {
  return detail ? joined([say.paused[reason], detail]) : say.paused[reason]
}

async function licenseGate({ sql, project, config }: Given): Promise<Gate> {
  try {
    await requireWritable(sql, project, await readLicense(config))
    return right('license', say.license)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return wrong('license', failureOf(error), say.enter_license)
  }
}

function dnsGates(dns: SenderDns | null): Gate[] {
  return (['spf', 'dkim', 'dmarc'] as const).map((name) => {
    const found = dns?.[name]
    if (found?.state === 'present') {
      return right(name, found.record ? verbatim(found.record) : say.dns_found)
    }
    if (found?.state === 'missing' && found.advice) {
      return advice(name, say.dns_missing(name.toUpperCase()), found.advice)
    }
    return right(name, say.dns_unknown)
  })
}
