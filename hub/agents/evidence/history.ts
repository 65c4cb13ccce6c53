import { bilingual } from '../../i18n/words.ts'
import { unquoted } from '../../mail/imap/reply.ts'
import type { AgentContext, Fact } from '../agent.ts'
import { leftOutText } from '../left-out.text.ts'
import { one } from '../run/facts.ts'

const told = bilingual(leftOutText)

type Row = {
  lead_id: string
  kind: 'we' | 'they' | 'note' | 'happened'
  at: string
  subject: string | null
  text: string | null
}

/** Entries of one lead that are read, and the characters that a model is given of them. */
const MAX_ENTRIES = 60
const MAX_ENTRY = 700
export const MAX_HISTORY = 3000

/**
 * historyOf reads what happened with some leads so far, by lead: our mails and their replies, notes
 * and the rest of the timeline, newest first.
 */
export async function historyOf(
  context: AgentContext,
  lead_ids: string[],
): Promise<Map<string, Row[]>> {
  const rows = await context.step(
    'history',
    (sql) => sql<Row>`
      select found.lead_id, found.kind, found.at, found.subject, found.text
      from unnest(${lead_ids}::uuid[]) as lead (id)
      cross join lateral (
        select recipient.lead_id, 'we' as kind, recipient.sent_at as at, draft.subject, draft.text
        from hub.recipients as recipient
        join hub.drafts as draft on draft.id = recipient.draft_id
        where recipient.lead_id = lead.id and recipient.state = 'sent'
          and recipient.sent_at is not null
        union all
        select lead_id, 'they', at, details ->> 'subject', details ->> 'text'
        from hub.activities where lead_id = lead.id and kind = 'replied'
        union all
        select lead_id, 'note', created_at, null, text from hub.notes where lead_id = lead.id
        union all
        select lead_id, 'happened', at, kind, coalesce(details ->> 'to', details ->> 'title')
        from hub.activities
        where lead_id = lead.id
          and kind in ('stage', 'task', 'task_done', 'opened', 'clicked', 'bounced', 'unsubscribed')
        order by at desc limit ${MAX_ENTRIES}
      ) as found`,
  )
  return Map.groupBy(rows, ({ lead_id }) => lead_id)
}

const SAID: Record<Row['kind'], string> = {
  we: 'we wrote',
  they: 'they answered',
  note: 'our note, not for the reader',
  happened: 'happened',
}

/** A lead's history as a fact for the model: the newest entries that fit, and how many did not. */
export function historyFact(context: AgentContext, who: string, rows: Row[] = []): Fact[] {
  const lines: string[] = []
  let length = 0
  for (const row of rows) {
    const line = lineOf(row)
    if (length + line.length > MAX_HISTORY) break
    lines.push(line)
    length += line.length + 1
  }
  if (lines.length < rows.length) {
    context.leaveOut(told.history(who, lines.length, rows.length))
  }
  if (lines.length === 0) return []
  return [{ label: 'what was said so far, newest first', text: lines.join('\n') }]
}

function lineOf({ kind, at, subject, text }: Row): string {
  const words = one(kind === 'they' || kind === 'we' ? unquoted(text ?? '') : text, MAX_ENTRY)
  const title = subject ? ` "${one(subject, 120)}"` : ''
  return `${at.slice(0, 10)} ${SAID[kind]}${title}${words ? `: ${words}` : ''}`
}
