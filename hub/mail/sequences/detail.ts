import type { Sql } from '../../../shared/sql.ts'
import { inProject, type Project } from '../../db/db.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { type Mailing, readGateInputs } from '../drafts/approval.ts'
import { personalOf } from '../drafts/audience.ts'
import { personalise } from '../render/render.ts'
import { type ExaminedSequence, examineSequence } from './examine.ts'
import type { SequencePerson } from './people.ts'
import { sequencesText } from './sequences.text.ts'
import type { SequenceRow } from './sequences.ts'

/** A sequence with everything that its approval looks at. */
export type Seen = ExaminedSequence & { sequence: SequenceRow; project: Project }

/** seeSequence examines a sequence as it is now, and does something with it in the same transaction. */
export async function seeSequence<T>(
  mailing: Mailing,
  { slug, id }: { slug: string; id: string },
  work: (sql: Sql, seen: Seen) => Promise<T>,
): Promise<T> {
  const inputs = await readGateInputs(mailing)
  return inProject(mailing.db, slug, async (sql, project) => {
    const [sequence] = await sql<SequenceRow>`
      select * from hub.sequences where id = ${id} and project_id = ${project.id}`
    if (!sequence) throw absent('sequence')
    return work(sql, {
      ...(await examineSequence(sql, project, inputs, sequence)),
      sequence,
      project,
    })
  })
}

/** One recipient as the pages show it, with the planned time of each mail. */
export function plannedOf({ plan }: Pick<Seen, 'plan'>, person: SequencePerson) {
  const { lead_id, email, name, company, time_zones, source, left_out, had, is_in } = person
  const times = plan.get(email) ?? []
  return {
    lead_id,
    email,
    name,
    company,
    time_zones,
    zone_source: source,
    left_out,
    is_in,
    had,
    planned: times.map((at) => at?.toISOString() ?? null),
  }
}

/** What an approval would do, in one sentence; null if nobody would get anything. */
export function whatHappens({ plan, steps }: Pick<Seen, 'plan' | 'steps'>): Words | null {
  const times = [...plan.values()].flat().flatMap((at) => (at ? [at.getTime()] : []))
  if (times.length === 0) return null
  const iso = (at: number) => new Date(at).toISOString()
  const first = iso(times.reduce((least, at) => Math.min(least, at)))
  const last = iso(times.reduce((most, at) => Math.max(most, at)))
  return bilingual(sequencesText).will_happen({
    people: plan.size,
    steps: steps.length,
    first,
    last,
  })
}

/** The mails of all steps as one recipient gets them; without an address the first who is in. */
export function mailsFor(seen: Seen, email: string | null) {
  const { people, steps, plan } = seen
  const person = email
    ? people.find((one) => one.email === email)
    : (people.find(({ left_out }) => left_out === null) ?? people[0])
  if (email && !person) throw absent('recipient')
  const personal = personalOf(person ?? { name: null, company: null })
  const times = person ? (plan.get(person.email) ?? []) : []
  return {
    recipient: person ? plannedOf(seen, person) : null,
    mails: steps.map(({ draft, mail }, at) => {
      const { subject, text, html } = personalise(mail, { ...personal, unsubscribe_url: '#' })
      return {
        step_id: draft.id,
        step: draft.step ?? at + 1,
        subject,
        text,
        html,
        at: times[at]?.toISOString() ?? null,
      }
    }),
  }
}
