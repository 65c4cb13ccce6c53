import type { Sql } from '../../../shared/sql.ts'
import { linesOf } from '../../mail/drafts/drafts.ts'
import type { Fact } from '../agent.ts'
import { one } from '../run/facts.ts'

type Sent = { subject: string; sent: number; replied: number; bounced: number; left_list: number }
type Edited = Parameters<typeof linesOf>[0] & { first_text: string }

const MAX_CHANGES = 3

/**
 * signalsOf reads how people took what the agents wrote in four weeks: which mails were answered,
 * bounced or unsubscribed from, and what people changed in drafts before they approved them.
 */
export async function signalsOf(sql: Sql): Promise<Fact[]> {
  const mails = await sql<Sent>`
    select d.subject, count(r.sent_at)::int as sent, count(r.replied_at)::int as replied,
      count(r.bounced_at)::int as bounced, count(r.unsubscribed_at)::int as left_list
    from hub.drafts as d
    join hub.recipients as r on r.draft_id = d.id
    where r.sent_at > now() - interval '28 days'
    group by d.id, d.subject
    order by count(r.replied_at) desc, count(r.bounced_at) desc, max(r.sent_at) desc, d.id
    limit 12`
  const edited = await sql<Edited>`
    select subject, text, slots, language, first_text from hub.drafts
    where first_text is not null and edited_at > now() - interval '28 days'
    order by edited_at desc, id limit 8`
  const changes = edited.map(changeOf).filter((text) => text !== '')
  return [
    ...(mails.length > 0
      ? [{ label: 'mails of four weeks and what came back', text: mails.map(cameBack).join('\n') }]
      : []),
    ...(changes.length > 0
      ? [{ label: 'what people changed in drafts', text: changes.join('\n') }]
      : []),
  ]
}

function cameBack({ subject, sent, replied, bounced, left_list }: Sent): string {
  return `${one(subject, 120)} | sent ${sent}, replied ${replied}, bounced ${bounced}, unsubscribed ${left_list}`
}

/** The sentences that a person took out of a draft, and those that came in. */
function changeOf({ first_text, ...draft }: Edited): string {
  const before = new Set(first_text.split('\n'))
  const after = new Set(linesOf(draft).split('\n'))
  const told = (mark: string, lines: Set<string>, other: Set<string>) =>
    [...lines]
      .filter((line) => line.trim() !== '' && !other.has(line))
      .slice(0, MAX_CHANGES)
      .map((line) => `${mark} ${one(line, 160)}`)
  const lines = [...told('- removed:', before, after), ...told('+ written:', after, before)]
  return lines.length > 0 ? [`in "${one(draft.subject, 80)}"`, ...lines].join('\n') : ''
}
