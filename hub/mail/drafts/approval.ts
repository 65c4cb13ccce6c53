import { ApiError, invalid } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import type { Config } from '../../config.ts'
import { type Database, everywhere, inProject, type Project } from '../../db/db.ts'
import { hashOf } from '../../hash.ts'
import { bilingual, joined, type Words } from '../../i18n/words.ts'
import { recordActivity } from '../../leads/timeline.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { type Brand, type From, fromOf } from '../brand/brand.ts'
import { brandOf } from '../brand/brand-of.ts'
import { readRefusals } from '../opt-outs.ts'
import { namedIn } from '../render/own-values.ts'
import { type MailSettings, readMail, readPause, viaOf } from '../settings.ts'
import { readDkim } from '../smtp/dkim.ts'
import { knownDns } from '../smtp/known-dns.ts'
import { readToday, volumeOf } from '../today.ts'
import { countSkips, type Person, peopleOf, skipWords } from './audience.ts'
import { type DraftRow, lockDraft } from './drafts.ts'
import { flowText } from './flow.text.ts'
import type { Step } from './flow.ts'
import { gateText } from './gates.text.ts'
import { type Gate, type GateInputs, gatesOf, wordsOf } from './gates.ts'
import { isOpen, type JudgedSentence, judgeDraft, verdictState } from './judged.ts'
import { addRecipients, approveDraft, requireState, voidApproval } from './state.ts'

const say = bilingual(flowText)
const sayGate = bilingual(gateText)

export type Mailing = { config: Config; db: Database }

/** What an approval fixed, in addition to its hash: used to show differences later. */
export type Approved = {
  /** As it was written, and as it was rendered. */
  written: string
  rendered: string
  /** Who the mails are from: they are sent with this, whatever the brand says by then. */
  from?: From | null
  recipients: number
  content_hash: string
  /** The hash of the verdicts alone, to say what has changed. */
  verdicts?: string
  /** Each sentence with its verdict and who stands for it. */
  sentences?: JudgedSentence[]
}

/** What will happen when the approved draft is sent. */
export type Plan = {
  recipients: number
  skipped: ReturnType<typeof countSkips>
  already_sent: number
  via: DraftRow['via']
  list: string | null
  cap_today: number
  left_today: number
  days: number
}

/** The inputs of the gates, read once. */
export async function readGateInputs({ config, db }: Mailing): Promise<GateInputs> {
  const [mail, pause] = await Promise.all([readMail(config.paths), readPause(config.paths)])
  const today = await everywhere(db, (sql) => readToday(sql, mail, pause))
  return { config, mail, pause, today }
}

export type Examined = {
  people: Person[]
  without_email: number
  gates: Gate[]
  sentences: JudgedSentence[]
  brand: Brand
}

/** States in which what was approved counts, and is not judged again. */
const ON_ITS_WAY: DraftRow['state'][] = ['sending', 'sent', 'unclear']

/** A draft with its current recipients, its sentences as they are judged now, and its gates. */
export async function examine(
  sql: Sql,
  project: Project,
  inputs: GateInputs,
  draft: DraftRow,
): Promise<Examined> {
  const refusals = await readRefusals(inputs.config.paths)
  const { audience, template, created_at } = draft
  const project_id = project.id
  // A mail to one lead is filled in when it is rendered.
  const written = audience.kind === 'list' ? [draft] : []
  const found = await peopleOf(sql, {
    project_id,
    audience,
    template,
    created_at,
    refusals,
    written,
  })
  const named = await namedIn(sql, project_id, [draft])
  const brand = await brandOf(sql, inputs.config, project)
  const sentences = await sentencesNow(sql, project, draft, { people: found.people, brand })
  const dns = knownDns(fromOf(brand), inputs.mail, await readDkim(inputs.config.paths))
  const gates = await gatesOf({
    ...inputs,
    sql,
    project,
    draft,
    sentences,
    brand,
    dns,
    named,
    ...found,
  })
  return { ...found, sentences, gates, brand }
}

async function sentencesNow(
  sql: Sql,
  project: Project,
  draft: DraftRow,
  { people, brand }: { people: Person[]; brand: Brand },
): Promise<JudgedSentence[]> {
  const approved = draft.approved as Approved | null // safe: only approve writes it
  if (ON_ITS_WAY.includes(draft.state) && approved?.sentences) return approved.sentences
  return judgeDraft({ sql, project, draft, people, signer: brand.sender_name })
}

/**
 * approve binds the draft to a hash of what is sent and to whom: rendered bytes, sender,
 * recipients, way and list. `seen` is the hash of what the admin saw; if it differs, the approval
 * is refused.
 */
export async function approve(
  mailing: Mailing,
  given: { slug: string; id: string; seen?: string | undefined },
): Promise<Plan> {
  const inputs = await readGateInputs(mailing)
  const { config, db } = mailing
  const license = await readLicense(config)
  return inProject(db, given.slug, async (sql, project) => {
    await requireWritable(sql, project, license)
    const draft = await lockDraft(sql, project.id, given.id)
    requireState('approve', draft.state)
    const { people, gates, sentences, brand } = await examine(sql, project, inputs, draft)
    requireEvidence(sentences)
    for (const name of ['rendering', 'fields', 'recipients']) {
      const gate = gates.find((one) => one.name === name)
      if (gate && !gate.ok && gate.blocks) throw new ApiError('conflict', wordsOf(gate))
    }
    const via = viaOf(inputs.mail, config, draft.audience.kind)
    const from = fromOf(brand)
    const content = contentHash(draft, { mail: inputs.mail, from, via, sentences })
    if (given.seen !== undefined && given.seen !== content) {
      throw new ApiError('audience_changed', say.seen_another)
    }
    await addRecipients(
      sql,
      draft,
      people.map(({ skip, empty: _, ...person }) => ({
        ...person,
        reason: skip && skipWords[skip],
      })),
    )
    const approved: Approved = {
      written: `${draft.subject}\n\n${draft.text}`,
      rendered: `${draft.rendered_subject}\n\n${draft.rendered_text}`,
      from,
      recipients: people.length,
      content_hash: content,
      verdicts: hashOf(verdictState(sentences)),
      sentences,
    }
    await approveDraft(sql, draft.id, { via, hash: wholeHash(content, people), approved })
    if (draft.audience.kind === 'lead') {
      const { lead_id } = draft.audience
      const details = { draft_id: draft.id, subject: draft.subject }
      await recordActivity(sql, { project_id: project.id, lead_id, kind: 'approved', details })
    }
    return planOf(sql, draft, { people, via, inputs, project, from })
  })
}

function requireEvidence(sentences: JudgedSentence[]): void {
  const shut = sentences.filter((one) => !isOpen(one))
  if (shut.length === 0) return
  throw invalid(
    shut.map((one) => ({
      path: `sentences.${sentences.indexOf(one)}`,
      code: one.verdict === 'contradicted' ? 'contradicted' : 'no_evidence',
      message:
        one.verdict === 'contradicted'
          ? sayGate.untrue(one.sentence)
          : sayGate.unproven(one.sentence),
    })),
  )
}

async function planOf(
  sql: Sql,
  draft: DraftRow,
  given: {
    people: Person[]
    via: DraftRow['via']
    inputs: GateInputs
    project: Project
    from: From | null
  },
): Promise<Plan> {
  const { people, via, inputs, project, from } = given
  const [row] = await sql<{ waiting: number; had: number }>`
    select count(*) filter (where state = 'waiting')::int as waiting,
      count(*) filter (where state in ('sent', 'sending', 'unclear'))::int as had
    from hub.recipients where draft_id = ${draft.id}`
  const { waiting = 0, had = 0 } = row ?? {}
  const { cap, left } = volumeOf(inputs.today, inputs.mail, from)
  return {
    recipients: waiting,
    skipped: countSkips(people),
    already_sent: had,
    via,
    list: via === 'campaign' ? `${project.name}: ${draft.rendered_subject}` : null,
    cap_today: cap,
    left_today: left,
    days: waiting <= left ? 1 : 1 + Math.ceil((waiting - left) / cap),
  }
}

/**
 * Covers everything except the recipients: what is sent, from whom and in which way, and what the
 * judge or a person said of each sentence.
 */
export function contentHash(
  draft: DraftRow,
  given: {
    mail: MailSettings
    from: From | null
    via: DraftRow['via']
    sentences: JudgedSentence[]
  },
): string {
  const { mail, from, via, sentences } = given
  return hashOf([
    draft.html,
    draft.rendered_subject,
    draft.rendered_text,
    draft.campaign && [draft.campaign.subject, draft.campaign.html, draft.campaign.text],
    from && [from.name, from.email, from.reply_to],
    via,
    via === 'smtp' ? null : (mail.listmonk?.url ?? null),
    draft.audience,
    verdictState(sentences),
  ])
}

function wholeHash(content: string, people: Person[]): string {
  const members = people.map(memberOf)
  return hashOf([content, members.sort((a, b) => (String(a) < String(b) ? -1 : 1))])
}

/** What an approval fixes of a recipient. */
export const memberOf = ({ email, lead_id, name, company, own }: Person) => [
  email,
  lead_id,
  name,
  company,
  ...ownEntries(own),
]
const ownEntries = (own: Record<string, string>) => Object.entries(own).sort().flat()

/** Why a step that relies on the approval is not possible, or null. */
async function changeSince(
  sql: Sql,
  draft: DraftRow,
  given: {
    mail: MailSettings
    config: Config
    people: Person[]
    sentences: JudgedSentence[]
    brand: Brand
  },
): Promise<Words | null> {
  const { mail, config, people, sentences, brand } = given
  // A restore removes the hash: what was approved according to a backup must be approved again.
  if (draft.approved_hash === null) return say.restored
  const approved = draft.approved as Approved | null // safe: only approve writes it
  const via = viaOf(mail, config, draft.audience.kind)
  if (approved?.verdicts !== hashOf(verdictState(sentences))) return say.evidence_changed
  const content = contentHash(draft, { mail, from: fromOf(brand), via, sentences })
  if (content !== approved.content_hash) return say.sender_changed
  const [row] = await sql<{ had: number }>`
    select count(*)::int as had from hub.recipients
    where draft_id = ${draft.id} and claimed_at is not null`
  if (row?.had) return changedRest(sql, draft, people)
  if (wholeHash(content, people) === draft.approved_hash) return null
  if (people.length !== approved.recipients) {
    return say.people_counted(approved.recipients, people.length)
  }
  return say.people_changed
}

/** After a part was sent, only the waiting recipients count. */
async function changedRest(sql: Sql, draft: DraftRow, people: Person[]): Promise<Words | null> {
  const rest = await sql<Pick<Person, 'email' | 'name' | 'company' | 'own'>>`
    select email, name, company, own from hub.recipients
    where draft_id = ${draft.id} and state in ('waiting', 'pushed')`
  const now = new Map(people.map((person) => [person.email, person]))
  const isSame = rest.every(({ email, name, company, own }) => {
    const person = now.get(email)
    if (person?.name !== name || person.company !== company) return false
    return String(ownEntries(person.own)) === String(ownEntries(own))
  })
  return isSame ? null : say.rest_changed
}

/**
 * Runs a step that relies on the approval, in one transaction with the row locked. If the
 * recipients or the sender differ from what was approved, the approval becomes void and 409 says
 * what has changed.
 */
export async function withApproval<T>(
  mailing: Mailing,
  given: { slug: string; id: string; step: Step },
  work: (sql: Sql, draft: DraftRow, project: Project, gates: Gate[]) => Promise<T>,
): Promise<T> {
  const inputs = await readGateInputs(mailing)
  const outcome = await inProject(mailing.db, given.slug, async (sql, project) => {
    await requireWritable(sql, project, await readLicense(mailing.config))
    const draft = await lockDraft(sql, project.id, given.id)
    requireState(given.step, draft.state)
    const examined = await examine(sql, project, inputs, draft)
    const changed = await changeSince(sql, draft, { ...inputs, ...examined })
    if (!changed) return { changed: null, value: await work(sql, draft, project, examined.gates) }
    await voidApproval(sql, draft.id, {
      step: given.step,
      to: 'rendered',
      reason: changed,
      is_stale: true,
    })
    return { changed }
  })
  const { changed } = outcome
  if (changed === null) return outcome.value
  throw new ApiError('audience_changed', joined([changed, say.void]))
}

/** Who an approved draft is from: as it was approved, or before that was recorded, as it is now. */
export async function approvedFrom(
  sql: Sql,
  config: Config,
  draft: Pick<DraftRow, 'approved' | 'project_id'>,
): Promise<From | null> {
  const approved = draft.approved as Approved | null // safe: only approve writes it
  if (approved?.from !== undefined) return approved.from
  return fromOf(await brandOf(sql, config, { id: draft.project_id }))
}
