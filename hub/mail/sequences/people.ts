import type { Sql } from '../../../shared/sql.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { type AudienceFilter, type Person, peopleOf, skipWords } from '../drafts/audience.ts'
import type { DraftRow } from '../drafts/drafts.ts'
import type { Refusals } from '../suppression.ts'
import { sequencesText } from './sequences.text.ts'
import type { SendWindow } from './window.ts'
import { type Zones, zonesFor } from './zones.ts'

const say = bilingual(sequencesText)

/** A recipient of a sequence as an approval would fix it. */
export type SequencePerson = Person &
  Zones & {
    /** Why it gets nothing; null: it is in. */
    left_out: Words | null
    /** The other running sequence that has it, if it is left out for that. */
    other: string | null
    /** Whether it is in it already, and how many mails it has had. */
    is_in: boolean
    had: number
    last_sent_at: string | null
    wait_until: string | null
  }

/** Whether somebody is left out because they left this sequence, or have had it. */
export const hadIt = ({ left_out }: SequencePerson) => left_out === say.had_it

/** Columns of imported lists that hold the time zone of a lead. */
const ZONE_COLUMNS = [
  'time zone',
  'timezone',
  'time_zone',
  'saat dilimi',
  'zaman dilimi',
  'zeitzone',
]

/**
 * sequencePeople returns everybody whom an approval would cover: the leads of the filter, and who is in
 * the sequence already. Each is in at most one running sequence of a project. `gone` are addresses in
 * it that no lead has any more.
 */
export async function sequencePeople(
  sql: Sql,
  given: {
    sequence: { id: string; project_id: string; filter: AudienceFilter; send_window: SendWindow }
    refusals: Refusals
    /** Its mails. */
    written: DraftRow[]
  },
): Promise<{ people: SequencePerson[]; without_email: number; gone: string[] }> {
  const { sequence, refusals, written } = given
  const { project_id, filter, send_window } = sequence
  const members = await sql<{
    email: string
    lead_id: string | null
    state: string
    stop_reason: string | null
    wait_until: string | null
    had: number
    last_sent_at: string | null
  }>`
    select person.email, person.lead_id, person.state, person.stop_reason, person.wait_until,
      count(mail.email)::int as had, max(mail.sent_at) as last_sent_at
    from hub.sequence_recipients as person
    left join hub.drafts as step on step.sequence_id = person.sequence_id
    left join hub.recipients as mail
      on mail.draft_id = step.id and mail.email = person.email and mail.claimed_at is not null
    where person.sequence_id = ${sequence.id}
    group by person.email, person.lead_id, person.state, person.stop_reason, person.wait_until`
  const inside = members
    .filter(({ state }) => state === 'active')
    .flatMap((one) => one.lead_id ?? [])
  const base = { project_id, template: 'letter', refusals, written }
  const found = await peopleOf(sql, { ...base, audience: { kind: 'list', filter } })
  const kept =
    inside.length > 0
      ? await peopleOf(sql, { ...base, audience: { kind: 'list', filter: { lead_ids: inside } } })
      : { people: [] }
  const all = new Map([...found.people, ...kept.people].map((one) => [one.email, one]))
  const byEmail = new Map(members.map((one) => [one.email, one]))
  const begun = new Set(members.filter((one) => one.had > 0).map((one) => one.lead_id))
  const busy = await elsewhere(sql, sequence, [...all.keys()])
  const places = await placesOf(
    sql,
    [...all.values()].map(({ lead_id }) => lead_id),
  )
  const now = new Date()
  const people = [...all.values()].map((person): SequencePerson => {
    const member = byEmail.get(person.email)
    const isIn = member?.state === 'active'
    const had = member?.had ?? 0
    // Also under another address: a person does not begin a second time.
    const isBack = member
      ? !isIn && !(member.stop_reason === 'left_out' && had === 0)
      : begun.has(person.lead_id)
    const other = isBack ? null : (busy.get(person.email) ?? null)
    const left_out = isBack
      ? say.had_it
      : other !== null
        ? say.in_another(other)
        : person.skip && skipWords[person.skip]
    const place = places.get(person.lead_id) ?? { time_zone: null, country: null }
    return {
      ...person,
      ...zonesFor(place, send_window, now),
      left_out,
      other,
      is_in: isIn,
      had,
      last_sent_at: member?.last_sent_at ?? null,
      wait_until: member?.wait_until ?? null,
    }
  })
  const gone = members.filter(({ state, email }) => state === 'active' && !all.has(email))
  return {
    people,
    without_email: found.without_email,
    gone: gone.map(({ email }) => email),
  }
}

async function elsewhere(
  sql: Sql,
  { id, project_id }: { id: string; project_id: string },
  emails: string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ email: string; name: string }>`
    select person.email, sequence.name
    from hub.sequence_recipients as person
    join hub.sequences as sequence on sequence.id = person.sequence_id
    where person.project_id = ${project_id} and person.sequence_id <> ${id}
      and person.state = 'active' and person.email = any(${emails}::text[])`
  return new Map(rows.map(({ email, name }) => [email, name]))
}

async function placesOf(sql: Sql, lead_ids: string[]) {
  const rows = await sql<{ id: string; country: string | null; time_zone: string | null }>`
    select lead.id, lead.country, (
      select substr(fact, length(import_column) + 3) from hub.evidence
      where lead_id = lead.id and lower(trim(import_column)) = any(${ZONE_COLUMNS}::text[])
      limit 1
    ) as time_zone
    from hub.leads as lead where lead.id = any(${lead_ids}::uuid[])`
  return new Map(rows.map(({ id, ...place }) => [id, place]))
}
