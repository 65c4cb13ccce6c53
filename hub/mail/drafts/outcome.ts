import type { Sql } from '../../../shared/sql.ts'
import { bilingual, joined, stored, type Words } from '../../i18n/words.ts'
import { type Salt, suppress } from '../suppression.ts'
import { outcomeText } from './outcome.text.ts'

const say = bilingual(outcomeText)

/** One mail that was about to be sent; `attempt` says whose answer an answer is. */
export type Claimed = {
  draft_id: string
  project_id: string
  email: string
  lead_id: string | null
  subject: string
  attempt: number
}

/** The server took it. Also right when the mail was called unclear meanwhile: now it is clear. */
export async function markSent(sql: Sql, mail: Claimed): Promise<void> {
  const done = await sql`
    update hub.recipients set state = 'sent', sent_at = now(), reason = null
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state in ('sending', 'unclear')
    returning 1`
  if (done.length > 0) await tell(sql, mail, 'sent')
}

/** An entry of the lead's timeline; the first mail makes a new lead a contacted one. */
export async function tell(
  sql: Sql,
  mail: Pick<Claimed, 'project_id' | 'lead_id' | 'draft_id' | 'subject'>,
  kind: 'sent' | 'bounced' | 'replied' | 'unsubscribed',
  more: { only_address?: true } = {},
): Promise<void> {
  const { project_id, lead_id, draft_id, subject } = mail
  if (!lead_id) return
  await sql`
    insert into hub.activities (project_id, lead_id, kind, details)
    values (${project_id}, ${lead_id}, ${kind}, ${JSON.stringify({ draft_id, subject, ...more })})`
  const stage = kind === 'sent' ? 'contacted' : kind === 'replied' ? 'replied' : null
  if (!stage) return
  const from = kind === 'sent' ? ['new'] : ['new', 'contacted']
  const moved = await sql`
    update hub.leads set stage = ${stage}, updated_at = now()
    where id = ${lead_id} and stage = any(${from}::text[])
    returning id`
  if (moved.length === 0) return
  await sql`
    insert into hub.activities (project_id, lead_id, kind, details)
    values (${project_id}, ${lead_id}, 'stage', ${JSON.stringify({ to: stage, by: kind })})`
}

/** Nobody knows whether it arrived; it is never sent again by itself. */
export async function markUnclear(sql: Sql, mail: Claimed, reason: Words): Promise<void> {
  await sql`
    update hub.recipients set state = 'unclear', reason = ${stored(reason)}
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state = 'sending'`
}

/** It was surely not taken and will not be. */
export async function markFailed(sql: Sql, mail: Claimed, reason: Words): Promise<void> {
  await sql`
    update hub.recipients set state = 'failed', reason = ${stored(reason)}
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state = 'sending'`
}

/** It was surely not taken, and may be tried again after a while. */
export async function putBack(
  sql: Sql,
  mail: Claimed,
  given: { reason: Words; wait_seconds: number },
): Promise<void> {
  await sql`
    update hub.recipients
    set state = 'pushed', reason = ${stored(given.reason)}, claimed_at = null,
      retry_at = now() + make_interval(secs => ${given.wait_seconds})
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state = 'sending'`
}

/** The address is dead: it never gets mail again. */
export async function markBounced(
  sql: Sql,
  salt: Salt,
  mail: Omit<Claimed, 'attempt'>,
  bounce: 'hard' | 'soft' | 'complaint',
): Promise<void> {
  const isComplaint = bounce === 'complaint'
  const changed = isComplaint
    ? await sql`
        update hub.recipients set complained_at = now()
        where draft_id = ${mail.draft_id} and email = ${mail.email} and complained_at is null
        returning 1`
    : await sql`
        update hub.recipients set bounced_at = now(), bounce = ${bounce}
        where draft_id = ${mail.draft_id} and email = ${mail.email}
          and bounce is distinct from ${bounce} and bounce is distinct from 'hard'
        returning 1`
  if (bounce !== 'soft') {
    const reason = isComplaint ? 'complained' : 'bounced'
    const { email, project_id } = mail
    await suppress(sql, salt, { emails: [email], reason, project_id })
  }
  if (changed.length > 0) await tell(sql, mail, 'bounced')
}

/** What a draft ends as when nobody waits any more: unclear, sent, or failed when nobody got it. */
export async function endDraft(sql: Sql, draft_id: string): Promise<void> {
  const [count] = await sql<Record<'unclear' | 'sent' | 'failed' | 'skipped' | 'open', number>>`
    select count(*) filter (where state = 'unclear')::int as unclear,
      count(*) filter (where state = 'sent')::int as sent,
      count(*) filter (where state = 'failed')::int as failed,
      count(*) filter (where state = 'skipped')::int as skipped,
      count(*) filter (where state in ('waiting', 'pushed', 'sending'))::int as open
    from hub.recipients where draft_id = ${draft_id}`
  if (!count || count.open > 0) return
  const { unclear, sent, failed, skipped } = count
  const reasons = [
    ...(unclear > 0 ? [say.unclear(unclear)] : []),
    ...(failed > 0 ? [say.failed(failed)] : []),
    ...(skipped > 0 ? [say.left_out(skipped)] : []),
  ]
  await sql`
    update hub.drafts
    set state = ${unclear > 0 ? 'unclear' : sent > 0 ? 'sent' : 'failed'},
      state_reason = ${reasons.length > 0 ? stored(joined(reasons, ', ')) : null},
      sent_at = case when ${sent > 0} then now() end,
      retry_at = null, paused_at = null, updated_at = now()
    where id = ${draft_id} and state = 'sending' and not exists (
      select from hub.recipients
      where draft_id = ${draft_id} and state in ('waiting', 'pushed', 'sending')
    )`
}

/** The letters to an address, or of a Message-ID, that went out: newest first. */
export function findLetters(
  sql: Sql,
  given: { message_ids: string[]; email: string | null },
): Promise<Omit<Claimed, 'attempt'>[]> {
  return sql`
    select r.draft_id, r.project_id, r.lead_id, r.email, d.subject
    from hub.recipients as r
    join hub.drafts as d on d.id = r.draft_id
    where r.claimed_at is not null
      and (r.message_id = any(${given.message_ids}::text[]) or r.email = ${given.email})
    order by r.claimed_at desc`
}
