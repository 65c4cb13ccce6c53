import { z } from 'zod'
import { raw, type Sql } from '../../shared/sql.ts'
import { type Localizable, verbatim, type Words } from '../i18n/words.ts'

/** What waits for a person's yes. A new kind is one entry in `KINDS`; the page shows it by its `ref`. */
export const QUEUE_KINDS = ['draft', 'sequence', 'action', 'improvement'] as const
export type QueueKind = (typeof QUEUE_KINDS)[number]

export const QueueItem = z
  .object({
    kind: z.enum(QUEUE_KINDS).meta({
      description:
        'draft: a mail. sequence: mails in steps, approved as one. action: what a mission wants to do. improvement: a change of how agents work.',
    }),
    id: z.uuid(),
    project: z.string(),
    title: z.string(),
    who: z.string().nullable().meta({ description: 'Of a mail to one lead: whom it goes to.' }),
    mission_id: z.uuid().nullable(),
    batch: z.object({ key: z.string(), size: z.int() }).nullable().meta({
      description: 'Mails that one mission wrote alike, or that share a template and subject.',
    }),
    waiting_since: z.string(),
  })
  .meta({ id: 'QueueItem' })
export type QueueItem = Localizable<z.infer<typeof QueueItem>>

type Found = Omit<QueueItem, 'kind' | 'title'> & {
  title: string | Words
  /** How many there are of this kind, of which the first MAX_OF_A_KIND are read. */
  of_kind: number
}
const ofKind = raw('count(*) over ()::int as of_kind')
type Kind = {
  kind: QueueKind
  /** The waiting things that the transaction sees, the longest waiting first. */
  find: (sql: Sql) => Promise<Found[]>
}

/** More of one kind are counted, and listed once these are decided. */
const MAX_OF_A_KIND = 500

/** One owner of what waits: the queue, its count and its order read only this list. */
const KINDS: Kind[] = [
  {
    kind: 'draft',
    find: (sql) => sql`
      select waiting.*, ${ofKind},
        case when size > 1 then jsonb_build_object('key', key, 'size', size) end as batch
      from (
        select draft.id, project.slug as project, draft.rendered_subject as title,
          coalesce(lead.name, lead.company, lead.email) as who, draft.mission_id,
          draft.updated_at as waiting_since, alike.key,
          count(*) over (partition by draft.project_id, alike.key)::int as size
        from hub.drafts as draft
        join hub.projects as project on project.id = draft.project_id
        left join hub.leads as lead on lead.id::text = draft.audience ->> 'lead_id'
        cross join lateral (
          select case draft.audience ->> 'kind' when 'lead' then
            md5(concat_ws('|', draft.template, draft.language,
              coalesce(draft.mission_id::text, draft.subject)))
            else draft.id::text end as key
        ) as alike
        where draft.state = 'rendered'
      ) as waiting
      order by waiting_since, id limit ${MAX_OF_A_KIND}`,
  },
  {
    kind: 'sequence',
    find: (sql) => sql`
      select sequence.id, project.slug as project, sequence.name as title, null as who,
        sequence.mission_id, null as batch, sequence.updated_at as waiting_since, ${ofKind}
      from hub.sequences as sequence
      join hub.projects as project on project.id = sequence.project_id
      where sequence.state = 'draft'
      order by sequence.updated_at, sequence.id limit ${MAX_OF_A_KIND}`,
  },
  { kind: 'action', find: approvals(['external', 'destructive']) },
  { kind: 'improvement', find: approvals(['prompt', 'process']) },
]

function approvals(kinds: string[]): Kind['find'] {
  return (sql) => sql`
    select approval.id, project.slug as project, approval.title, null as who, approval.mission_id,
      null as batch, approval.created_at as waiting_since, ${ofKind}
    from hub.approvals as approval
    join hub.projects as project on project.id = approval.project_id
    where approval.status = 'waiting' and approval.kind = any(${kinds}::text[])
    order by approval.created_at, approval.id limit ${MAX_OF_A_KIND}`
}

/**
 * readQueue lists what waits, the longest waiting first, and counts all of it; mails of one batch stand
 * together.
 */
export async function readQueue(sql: Sql): Promise<{ items: QueueItem[]; total: number }> {
  const items: QueueItem[] = []
  let total = 0
  for (const { kind, find } of KINDS) {
    const rows = await find(sql)
    total += rows[0]?.of_kind ?? 0
    for (const { title, ...found } of rows) {
      const { id, project, who, mission_id, batch, waiting_since } = found
      const words = typeof title === 'string' ? verbatim(title) : title
      items.push({ kind, id, project, title: words, who, mission_id, batch, waiting_since })
    }
  }
  const first = new Map<string, string>()
  const groupOf = ({ project, batch, id }: QueueItem) => `${project} ${batch?.key ?? id}`
  const sorted = items.toSorted((a, b) => order(a, b))
  for (const item of sorted) {
    if (!first.has(groupOf(item))) first.set(groupOf(item), String(item.waiting_since))
  }
  const together = sorted.toSorted((a, b) => {
    const [mine, theirs] = [groupOf(a), groupOf(b)]
    if (mine === theirs) return order(a, b)
    const since = [first.get(mine) ?? '', first.get(theirs) ?? '']
    return compare(since[0] ?? '', since[1] ?? '') || compare(mine, theirs)
  })
  return { items: together, total }
}

const order = (a: QueueItem, b: QueueItem) =>
  compare(String(a.waiting_since), String(b.waiting_since)) || compare(String(a.id), String(b.id))
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
