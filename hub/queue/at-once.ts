import { ApiError } from '../../shared/problem.ts'
import { inProject } from '../db/db.ts'
import { failureOf } from '../i18n/failure.ts'
import { bilingual, joined, perLanguage, type Words } from '../i18n/words.ts'
import { fromOf } from '../mail/brand/brand.ts'
import {
  approve,
  contentHash,
  examine,
  type Mailing,
  readGateInputs,
} from '../mail/drafts/approval.ts'
import type { Person } from '../mail/drafts/audience.ts'
import { readDraft } from '../mail/drafts/draft-view.ts'
import type { DraftRow } from '../mail/drafts/drafts.ts'
import { type Gate, wordsOf } from '../mail/drafts/gates.ts'
import { send } from '../mail/drafts/steps.ts'
import { awayDay } from '../mail/inbox/waits.ts'
import { push } from '../mail/listmonk/push.ts'
import { viaOf } from '../mail/settings.ts'
import { volumeOf } from '../mail/today.ts'
import { queueText } from './queue.text.ts'

const say = bilingual(queueText)

/** What approving and sending would do now, before anything is approved. */
export type Prospect = {
  draft: DraftRow
  people: Person[]
  /** Of what is shown, to approve nothing else. */
  hash: string | null
  /** One sentence: "Send to 42 people on list Demir, 20 today". */
  what: Words
  recipients: number
  today: number
  /** The gates that keep it from being sent; empty: it can be approved and sent at once. */
  closed: Gate[]
}

/** prospectOf reads what would happen to a rendered draft. */
export async function prospectOf(
  mailing: Mailing,
  { slug, id }: { slug: string; id: string },
): Promise<Prospect> {
  const inputs = await readGateInputs(mailing)
  return inProject(mailing.db, slug, async (sql, project) => {
    const draft = await readDraft(sql, project.id, id)
    const { people, gates, sentences, brand } = await examine(sql, project, inputs, draft)
    const had = new Set(
      (
        await sql<{ email: string }>`
          select email from hub.recipients
          where draft_id = ${id} and state in ('sent', 'sending', 'unclear')`
      ).map(({ email }) => email),
    )
    const reached = people.filter(({ skip, email }) => !skip && !had.has(email))
    const away: string[] = []
    if (reached.length <= MAX_ASKED) {
      for (const { lead_id } of reached) if (await awayDay(sql, lead_id)) away.push(lead_id)
    }
    const via = viaOf(inputs.mail, mailing.config, draft.audience.kind)
    const from = fromOf(brand)
    const { cap, left } = volumeOf(inputs.today, inputs.mail, from)
    const count = reached.length - away.length
    const today = via === 'campaign' && count > left ? 0 : Math.min(count, left)
    const days = count <= left ? 1 : 1 + Math.ceil((count - left) / Math.max(1, cap))
    const tag = draft.audience.kind === 'list' ? draft.audience.filter.tag : undefined
    const [only] = reached
    const whom =
      draft.audience.kind === 'lead'
        ? say.send.lead(only ? `${only.name ?? only.company ?? only.email}` : '–')
        : perLanguage((language) =>
            queueText[language].send.list(reached.length, tag ?? project.name),
          )
    const what = joined(
      [
        whom,
        say.today(today),
        ...(days > 1 ? [say.days(days)] : []),
        ...(away.length > 0 ? [say.away(away.length)] : []),
        ...(had.size > 0 ? [say.had(had.size)] : []),
        ...(people.length > reached.length + had.size
          ? [say.left_out(people.length - reached.length - had.size)]
          : []),
      ],
      ', ',
    )
    const given = { mail: inputs.mail, from, via, sentences }
    return {
      draft,
      people,
      hash: draft.html === null ? null : contentHash(draft, given),
      what,
      recipients: reached.length,
      today,
      closed: gates.filter(({ ok, blocks }) => blocks && !ok),
    }
  })
}

/** For more readers nobody is asked one by one whether they are away. */
const MAX_ASKED = 200

export type Outcome = {
  id: string
  outcome: 'sending' | 'approved' | 'refused'
  /** Why it was refused, or approved but not sent. */
  detail: Words | null
}

/**
 * approveAtOnce approves exactly what `hash` identifies, and with `send` sends it. A draft that cannot be
 * sent is then not approved either; if only a later step fails, it stays approved and says why.
 */
export async function approveAtOnce(
  mailing: Mailing,
  given: { slug: string; id: string; hash: string; send: boolean },
): Promise<Outcome> {
  const { slug, id, hash } = given
  try {
    const { closed } = given.send ? await prospectOf(mailing, { slug, id }) : { closed: [] }
    if (closed.length > 0) {
      const why = joined(closed.map(wordsOf))
      return { id, outcome: 'refused', detail: filled('closed', why) }
    }
    await approve(mailing, { slug, id, seen: hash })
  } catch (error) {
    return { id, outcome: 'refused', detail: refusalOf(error) }
  }
  if (!given.send) return { id, outcome: 'approved', detail: null }
  try {
    await push(mailing, { slug, id })
    await send(mailing, { slug, id })
  } catch (error) {
    return { id, outcome: 'approved', detail: filled('approved_only', refusalOf(error)) }
  }
  return { id, outcome: 'sending', detail: null }
}

const filled = (key: 'closed' | 'approved_only', why: Words): Words =>
  perLanguage((language) => queueText[language][key](why[language]))

/** What a refusal says; any other fault is thrown on. */
function refusalOf(error: unknown): Words {
  if (!(error instanceof ApiError) || error.code === 'internal') throw error
  return failureOf(error)
}
