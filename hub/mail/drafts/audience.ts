import { z } from 'zod'
import type { Sql } from '../../../shared/sql.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { Stage } from '../../leads/lead.ts'
import { type AddressFault, judgeAddress, normaliseEmail } from '../address.ts'
import { namedIn } from '../render/own-values.ts'
import { ownShown, type Values, type Written } from '../render/placeholders.ts'
import { type Refusals, suppressed } from '../suppression.ts'
import { skipText } from './gates.text.ts'

/** Why a lead is skipped, in words. */
export const skipWords = bilingual(skipText)

/** Leads that a filter can name one by one. */
export const MAX_NAMED = 5000

/** Selects leads of the project; they must match all conditions. */
export const AudienceFilter = z
  .strictObject({
    stage: Stage.optional(),
    tag: z.string().trim().min(1).max(60).optional(),
    country: z.string().trim().min(1).max(100).optional(),
    q: z.string().trim().min(1).max(200).optional(),
    answered: z.boolean().optional().meta({
      description:
        '`true`: leads who have replied. `false`: leads who were written to, have not replied, and are not lost.',
    }),
    lead_ids: z.array(z.uuid()).min(1).max(MAX_NAMED).optional(),
  })
  .meta({ description: 'An empty object means every lead of the project.' })
export type AudienceFilter = z.infer<typeof AudienceFilter>

/** The audience of a draft: one lead (a personal mail) or chosen leads (a campaign). */
export const Audience = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('lead'), lead_id: z.uuid() }),
  z.strictObject({ kind: z.literal('list'), filter: AudienceFilter }),
])
export type Audience = z.infer<typeof Audience>

/** A lead of the audience and, if it must not get this mail, the reason. */
export type Person = {
  lead_id: string
  email: string
  name: string | null
  company: string | null
  /** The project's own fields that the mail names, as it has them; '' is empty. */
  own: Record<string, string>
  /** Labels of those that are empty, with nothing to stand there instead. */
  empty: string[]
  /** null: it gets the mail. */
  skip: Skip | null
}

/** Everybody of an audience who has an address, each checked; and how many have none. */
export async function peopleOf(
  sql: Sql,
  given: {
    project_id: string
    audience: Audience
    template: string
    /** When the draft was written: whoever replied since does not get it. */
    created_at?: string
    refusals: Refusals
    /** What it says to many, to find the fields of the project's own that it names. */
    written?: (Written & { language: 'en' | 'tr' })[]
  },
): Promise<{ people: Person[]; without_email: number }> {
  const { project_id, audience, template, created_at = null, refusals, written = [] } = given
  const { used } = await namedIn(sql, project_id, written)
  const language = written[0]?.language ?? 'en'
  const filter = audience.kind === 'lead' ? { lead_ids: [audience.lead_id] } : audience.filter
  const { lead_ids, stage, tag, country, q, answered }: AudienceFilter = filter
  const rows = await sql<{
    id: string
    email: string | null
    name: string | null
    company: string | null
    source: string | null
    lawful_basis: string | null
    custom: Values
    has_replied: boolean
    replied_since: boolean
    may_refuse: boolean
  }>`
    select id, email, name, company, source, lawful_basis, custom,
      exists (
        select from hub.recipients as earlier
        where earlier.lead_id = leads.id and earlier.replied_at is not null
      ) as has_replied,
      exists (
        select from hub.recipients as earlier
        where earlier.lead_id = leads.id
          and greatest(earlier.replied_at, earlier.last_replied_at) > ${created_at}::timestamptz
      ) as replied_since,
      exists (
        select from hub.recipients as asked
        where (asked.lead_id = leads.id or asked.email = lower(trim(leads.email)))
          and asked.project_id = leads.project_id and asked.opt_out = 'open'
      ) as may_refuse
    from hub.leads as leads
    where project_id = ${project_id}
      and (${lead_ids ?? null}::uuid[] is null or id = any(${lead_ids ?? null}::uuid[]))
      and (${stage ?? null}::text is null or stage = ${stage ?? null})
      and (${tag ?? null}::text is null or ${tag ?? null} = any(tags))
      and (${country ?? null}::text is null or private.fold(country) = private.fold(${country ?? null}))
      and (
        ${q ?? null}::text is null
        or strpos(
          private.fold(concat_ws(' ', name, email, company)), private.fold(${q ?? null}::text)
        ) > 0
      )
      and (
        ${answered ?? null}::boolean is null
        or ${answered ?? null}::boolean = case
          when stage in ('replied', 'meeting', 'proposal', 'won') or exists (
            select from hub.recipients as earlier
            where earlier.lead_id = leads.id and earlier.replied_at is not null
          ) then true
          when stage <> 'lost' and exists (
            select from hub.recipients as earlier
            where earlier.lead_id = leads.id and earlier.state in ('sent', 'unclear')
          ) then false
        end
      )
    order by lower(email), id`
  const named = rows.filter((row) => row.email?.trim())
  const byEmail = new Map(
    named.map((row) => [normaliseEmail(row.email ?? '') ?? row.email?.trim() ?? '', row]),
  )
  const never = await suppressed(sql, refusals, [...byEmail.keys()])
  const people = [...byEmail].map(([email, lead]): Person => {
    const own = ownShown(used, lead.custom, language)
    const empty = used.filter(({ key, is_needed }) => is_needed && own[key] === '')
    const is_suppressed = never.has(email)
    const skip = skipOf({ ...lead, email, is_suppressed, template, lacks: empty.length > 0 })
    const { id: lead_id, name, company } = lead
    return { lead_id, email, name, company, own, empty: empty.map(({ label }) => label), skip }
  })
  return { people, without_email: rows.length - named.length }
}

/** A lead, with what says its language. */
type Reader = { id: string; country: string | null; language: string | null }

/** readersOf returns the leads of a filter who have an address, with their languages and countries. */
export async function readersOf(
  sql: Sql,
  given: { project_id: string; filter: AudienceFilter; refusals: Refusals },
): Promise<Reader[]> {
  const { project_id, filter, refusals } = given
  const audience = { kind: 'list' as const, filter }
  const { people } = await peopleOf(sql, { project_id, audience, template: 'letter', refusals })
  return readersAmong(sql, project_id, people)
}

/** readersAmong returns the languages and countries of an audience. */
export async function readersAmong(
  sql: Sql,
  project_id: string,
  people: Person[],
): Promise<Reader[]> {
  const ids = people.map(({ lead_id }) => lead_id)
  return sql<Reader>`
    select id, country, language from hub.leads
    where id = any(${ids}::uuid[]) and project_id = ${project_id}
    order by id`
}

/** The gate that reports each reason for skipping a lead. */
export const SKIPS = {
  suppressed: 'suppression',
  may_refuse: 'suppression',
  no_lawful_basis: 'lawful_basis',
  no_source: 'source',
  replied: 'replies',
  replied_since: 'replies',
  invalid_email: 'addresses',
  role_address: 'addresses',
  disposable_address: 'addresses',
  empty_field: 'fields',
} as const satisfies Record<AddressFault | (string & {}), string>
export type Skip = keyof typeof SKIPS

function skipOf(lead: {
  email: string
  source: string | null
  lawful_basis: string | null
  has_replied: boolean
  replied_since: boolean
  may_refuse: boolean
  is_suppressed: boolean
  template: string
  lacks: boolean
}): Skip | null {
  if (lead.is_suppressed) return 'suppressed'
  if (lead.may_refuse) return 'may_refuse'
  if (!lead.lawful_basis) return 'no_lawful_basis'
  if (!lead.source) return 'no_source'
  if (lead.template === 'follow_up' && lead.has_replied) return 'replied'
  if (lead.replied_since) return 'replied_since'
  return judgeAddress(lead.email) ?? (lead.lacks ? 'empty_field' : null)
}

/** How many are skipped for which reason, most frequent first. */
export function countSkips(people: Person[]): { reason: Skip; words: Words; count: number }[] {
  const counts = new Map<Skip, number>()
  for (const { skip } of people) if (skip) counts.set(skip, (counts.get(skip) ?? 0) + 1)
  return [...counts]
    .map(([reason, count]) => ({ reason, words: skipWords[reason], count }))
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))
}

/** The personal fields of a mail. */
export function personalOf(person: {
  name: string | null
  company: string | null
  own?: Record<string, string>
}) {
  const words = (person.name ?? '').trim().split(/\s+/)
  // "Dr. Ayşe Demir" is addressed as Ayşe.
  const first = words.find((word) => !word.endsWith('.')) ?? ''
  return { first_name: first, name: person.name, company: person.company, own: person.own }
}
