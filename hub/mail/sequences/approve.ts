import { ApiError, invalid } from '../../../shared/problem.ts'
import { inProject } from '../../db/db.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { type Mailing, readGateInputs } from '../drafts/approval.ts'
import { skipWords } from '../drafts/audience.ts'
import { gateText } from '../drafts/gates.text.ts'
import { requireOpen } from '../drafts/gates.ts'
import { isOpen } from '../drafts/judged.ts'
import { addRecipients } from '../drafts/state.ts'
import { startStep } from '../drafts/step-state.ts'
import { type ExaminedStep, examineSequence } from './examine.ts'
import { hadIt } from './people.ts'
import { sequencesText } from './sequences.text.ts'
import { lockSequence, refuseState } from './sequences.ts'
import { enrol, startSequence } from './state.ts'
import { stopSequences } from './stop.ts'
import { senderHash } from './thread.ts'

const say = bilingual(sequencesText)
const sayGate = bilingual(gateText)

/**
 * approveSequence approves all steps for all recipients at once, and starts the sequence: every gate
 * must be open, and every sentence harmless, supported or stood for. `seen` is the hash of what was
 * shown; anything else is refused with 409. It goes on with who has had mails before an edit.
 */
export async function approveSequence(
  mailing: Mailing,
  given: { slug: string; id: string; seen?: string | undefined },
): Promise<void> {
  const inputs = await readGateInputs(mailing)
  const license = await readLicense(mailing.config)
  await inProject(mailing.db, given.slug, async (sql, project) => {
    await requireWritable(sql, project, license)
    // One approval at a time, so that nobody is in two running sequences of a project.
    await sql`select from hub.projects where id = ${project.id} for update`
    const sequence = await lockSequence(sql, project.id, given.id)
    if (sequence.state !== 'draft') throw refuseState('approve', sequence.state)
    const { people, gone, steps, gates, hash, from } = await examineSequence(
      sql,
      project,
      inputs,
      sequence,
    )
    requireEvidence(steps)
    requireOpen(gates)
    if (given.seen !== undefined && given.seen !== hash) {
      throw new ApiError('audience_changed', say.seen_another)
    }
    const sender_hash = senderHash(from, inputs.mail)
    const sender = from?.email ?? null
    const isStarted = await startSequence(sql, sequence.id, {
      hash,
      approved: { sender_hash, sender, recipients: people.length },
    })
    if (!isStarted) throw refuseState('approve', 'running')
    // Who was in it before and left stays out, and is no recipient that was left out now.
    const whole = people.filter((one) => !hadIt(one))
    await enrol(
      sql,
      sequence,
      whole.map(({ lead_id, email, name, company, time_zones, left_out }) => ({
        lead_id,
        email,
        name,
        company,
        time_zones,
        skip: left_out,
      })),
    )
    const leaving = whole.flatMap(({ email, is_in, left_out }) =>
      is_in && left_out ? [{ email, why: left_out }] : [],
    )
    const others = gone.map((email) => ({ email, why: skipWords.other_address }))
    for (const { email, why } of [...leaving, ...others]) {
      const who = { project_id: project.id, email, sequence_id: sequence.id }
      await stopSequences(sql, who, 'left_out', why)
    }
    const inside = whole.filter(({ left_out }) => left_out === null)
    for (const { draft, mail, sentences } of steps) {
      const approved = {
        written: `${draft.subject}\n\n${draft.text}`,
        rendered: `${mail.subject}\n\n${mail.text}`,
        sender,
        from,
        sender_hash,
        recipients: inside.length,
        content_hash: hash,
        sentences,
      }
      const isFixed = await startStep(sql, draft.id, { hash, approved, mail })
      if (!isFixed) throw refuseState('approve', 'running')
      await addRecipients(
        sql,
        draft,
        inside.map(({ lead_id, email, name, company, own }) => ({
          lead_id,
          email,
          name,
          company,
          own,
          reason: null,
        })),
      )
    }
  })
}

function requireEvidence(steps: ExaminedStep[]): void {
  const issues = steps.flatMap(({ sentences }, step) =>
    sentences.flatMap((one, at) => {
      if (isOpen(one)) return []
      const isUntrue = one.verdict === 'contradicted'
      return [
        {
          path: `steps.${step}.sentences.${at}`,
          code: isUntrue ? 'contradicted' : 'no_evidence',
          message: isUntrue ? sayGate.untrue(one.sentence) : sayGate.unproven(one.sentence),
        },
      ]
    }),
  )
  if (issues.length > 0) throw invalid(issues)
}
