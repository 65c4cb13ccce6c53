import type { Sql } from '../../../shared/sql.ts'
import type { Project } from '../../db/db.ts'
import { hashOf } from '../../hash.ts'
import { bilingual, joined } from '../../i18n/words.ts'
import { type Brand, type From, fromOf } from '../brand/brand.ts'
import { brandOf } from '../brand/brand-of.ts'
import { memberOf } from '../drafts/approval.ts'
import type { DraftRow } from '../drafts/drafts.ts'
import { gateText } from '../drafts/gates.text.ts'
import { type Gate, type GateInputs, gatesOf } from '../drafts/gates.ts'
import { type JudgedSentence, judgeDraft, verdictState } from '../drafts/judged.ts'
import { readRefusals } from '../opt-outs.ts'
import { namedIn } from '../render/own-values.ts'
import type { Rendered } from '../render/render.ts'
import { renderContent } from '../render/rendering.ts'
import { readDkim } from '../smtp/dkim.ts'
import { knownDns } from '../smtp/known-dns.ts'
import { volumeOf } from '../today.ts'
import { hadIt, type SequencePerson, sequencePeople } from './people.ts'
import { sequencesText } from './sequences.text.ts'
import { type SequenceRow, stepsOf } from './sequences.ts'
import { senderHash } from './thread.ts'
import { timetable } from './timetable.ts'

const say = bilingual(sequencesText)
const sayGate = bilingual(gateText)

/** Recipients of one sequence; beyond that the evidence gate would not judge each. */
export const MAX_PEOPLE = 5000

export type ExaminedStep = {
  draft: DraftRow
  mail: Rendered
  sentences: JudgedSentence[]
}
export type ExaminedSequence = {
  people: SequencePerson[]
  without_email: number
  /** Addresses that are in it and that no lead has any more. */
  gone: string[]
  steps: ExaminedStep[]
  gates: Gate[]
  /** Of all that would be sent, to whom and when. */
  hash: string
  from: From | null
  plan: Map<string, (Date | null)[]>
}

/**
 * examineSequence renders every step as it would be sent, judges each of its sentences for all of its
 * recipients, and plans when each mail would go.
 */
export async function examineSequence(
  sql: Sql,
  project: Project,
  inputs: GateInputs,
  sequence: SequenceRow,
): Promise<ExaminedSequence> {
  const { config, mail: settings, today } = inputs
  const refusals = await readRefusals(config.paths)
  const drafts = await stepsOf(sql, sequence.id)
  const found = await sequencePeople(sql, { sequence, refusals, written: drafts })
  const people = found.people
  const inside = people.filter(({ left_out }) => left_out === null)
  const brand = await brandOf(sql, config, project)
  const steps: ExaminedStep[] = []
  for (const draft of drafts) {
    const { mail } = await renderContent(sql, project, config, draft)
    // The subject with Re: says nothing that the first one does not say.
    const written = draft.is_reply ? { ...draft, subject: '' } : draft
    const signer = brand.sender_name
    const sentences = await judgeDraft({ sql, project, draft: written, people: inside, signer })
    steps.push({ draft, mail, sentences })
  }
  const gates = await gatesOfSequence(sql, project, inputs, { ...found, sequence, steps, brand })
  const from = fromOf(brand)
  const { left, cap } = volumeOf(today, settings, from)
  const plan = timetable(
    inside.map((one) => ({
      ...one,
      last_sent_at: one.last_sent_at ? new Date(one.last_sent_at) : null,
      wait_until: one.wait_until ? new Date(one.wait_until) : null,
    })),
    {
      waits: steps.map(({ draft }) => draft.wait_days ?? 0),
      window: sequence.send_window,
      now: new Date(),
      allowance: {
        left_today: left,
        cap_today: cap,
        daily_cap: settings.daily_cap,
        ramp: settings.ramp,
      },
    },
  )
  const hash = hashOfSequence(senderHash(from, settings), sequence, people, steps)
  return { ...found, steps, gates, plan, hash, from }
}

function hashOfSequence(
  sender_hash: string,
  { send_window }: SequenceRow,
  people: SequencePerson[],
  steps: ExaminedStep[],
): string {
  const members = people
    .filter(({ left_out }) => left_out === null)
    .map((one) => [...memberOf(one), one.time_zones])
  return hashOf([
    steps.map(({ draft, mail: { html, subject, text }, sentences }) => [
      draft.id,
      draft.wait_days,
      html,
      subject,
      text,
      verdictState(sentences),
    ]),
    sender_hash,
    send_window,
    members.sort((a, b) => (String(a) < String(b) ? -1 : 1)),
  ])
}

async function gatesOfSequence(
  sql: Sql,
  project: Project,
  inputs: GateInputs,
  given: {
    people: SequencePerson[]
    without_email: number
    sequence: SequenceRow
    steps: ExaminedStep[]
    brand: Brand
  },
): Promise<Gate[]> {
  const { people, without_email, sequence, steps, brand } = given
  const { config, mail } = inputs
  const [first] = steps
  if (!first) return []
  const gates = await gatesOf({
    ...inputs,
    sql,
    project,
    brand,
    dns: knownDns(fromOf(brand), mail, await readDkim(config.paths)),
    draft: { ...first.draft, rendered_text: steps.map(({ mail }) => mail.text).join('\n') },
    sentences: steps.flatMap(({ sentences }) => sentences),
    people,
    without_email,
    named: await namedIn(
      sql,
      project.id,
      steps.map(({ draft }) => draft),
    ),
  })
  const [row] = await sql<{ unclear: number }>`
    select count(*)::int as unclear
    from hub.recipients as mail join hub.drafts as step on step.id = mail.draft_id
    where step.sequence_id = ${sequence.id} and mail.state = 'unclear'`
  const advice = { blocks: false, ok: false }
  return [
    ...gates.map((gate) => (gate.name === 'recipients' ? whoGetsIt(gate, given) : gate)),
    inputs.mail.imap
      ? { name: 'replies_read', ok: true, blocks: false, detail: say.replies_read, way_out: null }
      : { ...advice, name: 'replies_read', detail: say.replies_unread, way_out: say.set_up_imap },
    row?.unclear
      ? { ...advice, name: 'unclear', detail: say.unclear_before(row.unclear), way_out: say.decide }
      : { name: 'unclear', ok: true, blocks: false, detail: say.none_unclear, way_out: null },
  ]
}

/** Recipients whom a gate names. */
const NAMED = 5

/** Counts who really gets it, and names those whom this or another sequence keeps out. */
function whoGetsIt(
  gate: Gate,
  { people, without_email }: { people: SequencePerson[]; without_email: number },
): Gate {
  const inside = people.filter(({ left_out }) => left_out === null).length
  const named = (some: SequencePerson[]) =>
    [
      some
        .slice(0, NAMED)
        .map(({ name, email }) => name ?? email)
        .join(', '),
      Math.max(0, some.length - NAMED),
    ] as const
  const bySequence = Map.groupBy(
    people.filter(({ other }) => other !== null),
    ({ other }) => other ?? '',
  )
  const had = people.filter(hadIt)
  const kept_out = [
    ...[...bySequence].map(([sequence, some]) => say.busy(sequence, ...named(some))),
    ...(had.length > 0 ? [say.had(...named(had))] : []),
  ]
  const counted = [
    sayGate.recipients(inside, people.length),
    ...(without_email > 0 ? [sayGate.without_email(without_email)] : []),
  ]
  const detail = joined([...(gate.ok ? counted : [gate.detail]), ...kept_out])
  if (inside > MAX_PEOPLE) {
    const many = say.too_many(inside, MAX_PEOPLE)
    return { ...gate, ok: false, blocks: true, detail: many, way_out: say.narrow }
  }
  if (inside === 0 && gate.ok) {
    return {
      ...gate,
      ok: false,
      blocks: true,
      detail: joined([detail, say.nobody]),
      way_out: say.others,
    }
  }
  return { ...gate, detail }
}
