import { ApiError, invalid } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { inProject, type Project } from '../../db/db.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { type Mailing, readGateInputs } from '../drafts/approval.ts'
import { evidenceText } from '../drafts/evidence.text.ts'
import type { Stand } from '../drafts/judged.ts'
import { recordAllSent } from '../drafts/outcome.ts'
import { clearStepMails, endSteps, voidSteps } from '../drafts/step-state.ts'
import { examineSequence } from './examine.ts'
import { sequencesText } from './sequences.text.ts'
import { lockSequence, refuseState, type SequenceRow, stepsOf } from './sequences.ts'
import { holdSequence, stopSequence } from './state.ts'
import { stopSequences } from './stop.ts'

// What a person does with a sequence: hold it, end it, take somebody out, decide what is unclear.

const say = bilingual(sequencesText)
const sayEvidence = bilingual(evidenceText)

type Given = { slug: string; id: string }

type Work<T> = (sql: Sql, sequence: SequenceRow, project: Project) => Promise<T>

/** Runs work with the sequence locked, in a project that may be changed. */
async function withSequence<T>(mailing: Mailing, given: Given, work: Work<T>): Promise<T> {
  const license = await readLicense(mailing.config)
  return withAnySequence(mailing, given, async (sql, sequence, project) => {
    await requireWritable(sql, project, license)
    return work(sql, sequence, project)
  })
}

/** The same in every project: what only ends mails is done also in one that is read-only. */
async function withAnySequence<T>({ db }: Mailing, { slug, id }: Given, work: Work<T>): Promise<T> {
  return inProject(db, slug, async (sql, project) =>
    work(sql, await lockSequence(sql, project.id, id), project),
  )
}

/** Pauses or resumes a sequence; mails whose time has passed meanwhile go in the next office hours. */
export async function setHeld(mailing: Mailing, given: Given & { is_held: boolean }) {
  const within = given.is_held ? withAnySequence : withSequence
  await within(mailing, given, async (sql, { id, state }) => {
    const isDone = await holdSequence(sql, id, given.is_held)
    if (!isDone) throw refuseState(given.is_held ? 'pause' : 'resume', state)
  })
}

/** Ends a sequence for good. */
export async function stop(mailing: Mailing, given: Given) {
  await withAnySequence(mailing, given, async (sql, { id, state }) => {
    if (!(await stopSequence(sql, id))) throw refuseState('stop', state)
  })
}

/** Deletes a sequence of which no mail has gone. */
export async function remove(mailing: Mailing, given: Given) {
  await withSequence(mailing, given, async (sql, { id, state, started_at }) => {
    if (state === 'running' || state === 'paused') throw refuseState('remove', state)
    const [had] = await sql`
      select from hub.recipients as mail join hub.drafts as step on step.id = mail.draft_id
      where step.sequence_id = ${id} and mail.claimed_at is not null limit 1`
    if (had && started_at) throw new ApiError('conflict', say.was_sent)
    await sql`delete from hub.sequences where id = ${id}`
  })
}

/** Takes one recipient out; throws 404 if it is not in the sequence any more. */
export async function takeOut(mailing: Mailing, given: Given & { email: string }) {
  await withAnySequence(mailing, given, async (sql, { id, project_id }) => {
    const who = { project_id, email: given.email, sequence_id: id }
    if ((await stopSequences(sql, who, 'taken_out')) === 0) {
      throw new ApiError('not_found', say.nobody_in)
    }
  })
}

/**
 * Stores a person's decision about unclear mails: `sent`, after which the next step follows, or
 * `not_sent`, after which it is sent in the next office hours. Without `email` for all of the sequence.
 */
export async function clearUnclear(
  mailing: Mailing,
  given: Given & { outcome: 'sent' | 'not_sent'; email?: string | undefined },
) {
  const { outcome, email = null } = given
  const within = outcome === 'sent' ? withAnySequence : withSequence
  await within(mailing, given, async (sql, { id, state }) => {
    const isOver = state === 'done' || state === 'stopped'
    const cleared = await clearStepMails(sql, id, {
      email,
      to: outcome === 'sent' ? 'sent' : isOver ? 'skipped' : 'waiting',
    })
    if (cleared.length === 0) throw new ApiError('not_found', say.nothing_unclear)
    if (isOver) await endSteps(sql, id)
    // Nobody has had it, as with all that waited when it became a draft.
    if (outcome === 'not_sent' && state === 'draft') await voidSteps(sql, id)
    if (outcome !== 'sent') return
    for (const step of await stepsOf(sql, id)) {
      const mails = cleared.filter(({ draft_id }) => draft_id === step.id)
      await recordAllSent(sql, step, mails)
    }
  })
}

/** Records that a person stands for a sentence of a step as it is now, or takes it back. */
export async function standFor(
  mailing: Mailing,
  given: Given & { step_id: string; sentence: string; stands: boolean; by: Stand['by'] },
) {
  const inputs = await readGateInputs(mailing)
  const { step_id, sentence, stands, by } = given
  await withSequence(mailing, given, async (sql, sequence, project) => {
    if (sequence.state !== 'draft') throw refuseState('approve', sequence.state)
    const { steps } = await examineSequence(sql, project, inputs, sequence)
    const step = steps.find(({ draft }) => draft.id === step_id)
    if (!step) throw invalid([{ path: 'step_id', code: 'not_found', message: say.no_step }])
    const found = step.sentences.find((one) => one.sentence === sentence)
    const fail = (message: typeof say.no_step) =>
      invalid([{ path: 'sentence', code: 'not_found', message }])
    if (!found) throw fail(sayEvidence.no_sentence)
    if (found.verdict === 'harmless' || found.verdict === 'supported') {
      throw fail(sayEvidence.needs_nobody)
    }
    if (stands) {
      await sql`
        insert into hub.stands (draft_id, basis, project_id, sentence, verdict, stood_by)
        values (${step_id}, ${found.basis}, ${project.id}, ${sentence}, ${found.verdict}, ${by})
        on conflict (draft_id, basis) do nothing`
      return
    }
    await sql`delete from hub.stands where draft_id = ${step_id} and sentence = ${sentence}`
  })
}
