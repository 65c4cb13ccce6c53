import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import {
  CalendarCheck,
  CalendarOff,
  CheckCheck,
  CircleDot,
  CopyPlus,
  FileInput,
  FileSearch,
  FolderInput,
  Inbox,
  ListOrdered,
  type LucideIcon,
  Mail,
  MailOpen,
  MailX,
  MousePointerClick,
  Pencil,
  Plus,
  Reply,
  Send,
  Split,
  StickyNote,
  Tag,
  UserMinus,
} from 'lucide-react'
import { Link } from 'wouter'
import type { Translation } from '../../../../shared/words/texts.ts'
import { FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { useProject } from '../../project.ts'
import { leadsText } from './leads.text.ts'
import { UndoOnTimeline } from './merge/undo-merge.tsx'
import { refreshLeads, timelineQuery } from './queries.ts'
import { STAGES } from './stage.tsx'

type Activity = Schemas['Activity']
type Words = Translation<(typeof leadsText)['en']>

const GLYPHS: Record<string, LucideIcon> = {
  created: Plus,
  imported: FileInput,
  merged: FileInput,
  unmerged: Split,
  edited: Pencil,
  stage: CircleDot,
  tagged: Tag,
  moved: FolderInput,
  copied: CopyPlus,
  note: StickyNote,
  task: CalendarCheck,
  task_done: CheckCheck,
  evidence: FileSearch,
  draft: Mail,
  approved: CheckCheck,
  sent: Send,
  opened: MailOpen,
  clicked: MousePointerClick,
  replied: Reply,
  bounced: MailX,
  unsubscribed: UserMinus,
  away: CalendarOff,
  answered: Send,
  sequence: ListOrdered,
}

/** The history of a lead, newest first. */
export function Timeline({ id }: { id: string }) {
  const text = useText(leadsText)
  const { slug } = useProject()
  const query = useInfiniteQuery(timelineQuery(id))
  if (query.isPending) return <SkeletonRows rows={4} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const activities = query.data.pages.flatMap((page) => page.activities)
  if (activities.length === 0) {
    return <p className="p-5 text-muted">{text.panel.no_timeline}</p>
  }
  return (
    <>
      <ol className="flex flex-col px-5 py-4">
        {activities.map((activity, at) => {
          const Glyph = GLYPHS[activity.kind] ?? Inbox
          const { title, detail } = sentence(activity, text)
          return (
            <li key={activity.id} className="flex gap-3">
              <span className="flex flex-col items-center">
                <span className="flex size-7 shrink-0 items-center justify-center rounded-full border border-line text-muted">
                  <Glyph size={14} aria-hidden />
                </span>
                {at < activities.length - 1 ? <span className="w-px flex-1 bg-line" /> : null}
              </span>
              <div className="min-w-0 flex-1 pb-5">
                <p className="flex min-h-7 items-center gap-3">
                  <span className="min-w-0 flex-1 break-words">{title}</span>
                  <Time at={activity.at} className="shrink-0 text-sm text-muted" />
                </p>
                {activity.by ? (
                  <p className="truncate text-sm text-muted">{text.happened.by(activity.by)}</p>
                ) : null}
                {detail ? (
                  <p className="line-clamp-6 break-words whitespace-pre-line text-sm text-muted">
                    {detail}
                  </p>
                ) : null}
                {typeof activity.details.inbox_id === 'string' ? (
                  <Link
                    href={`/p/${slug}/inbox?show=all&mail=${activity.details.inbox_id}`}
                    className="text-sm text-accent-text hover:underline"
                  >
                    {text.happened.in_inbox}
                  </Link>
                ) : null}
                {activity.kind === 'merged' && typeof activity.details.merge_id === 'string' ? (
                  <UndoOnTimeline id={activity.details.merge_id} />
                ) : null}
                {activity.kind === 'replied' && activity.details.only_address ? (
                  <UndoReply id={id} />
                ) : null}
              </div>
            </li>
          )
        })}
      </ol>
      <More query={query} className="pt-0" />
    </>
  )
}

/** A reply that refers to none of our mails may come from anybody who forged the lead's address. */
function UndoReply({ id }: { id: string }) {
  const { happened } = useText(leadsText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const takeBack = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/lead/not_replied', { body: { lead_id: id } })),
    onSuccess: () => toast(happened.taken_back),
    onError: say,
    onSettled: () => refreshLeads(queryClient),
  })
  return (
    <Button
      size="sm"
      className="mt-2"
      isPending={takeBack.isPending}
      onClick={() => takeBack.mutate()}
    >
      {happened.no_answer}
    </Button>
  )
}

/** The sentence of an activity. Its details come from the hub; none of them is HTML. */
function sentence(
  { kind, details }: Pick<Activity, 'kind' | 'details'>,
  { happened, stages, fields }: Words,
): { title: string; detail?: string | undefined } {
  const told = (key: string) => (typeof details[key] === 'string' ? details[key] : '')
  const stage = (key: string) => {
    const known = STAGES.find((one) => one === details[key])
    return known ? stages[known] : told(key)
  }
  switch (kind) {
    case 'created':
      return { title: details.mission_id ? happened.created_by_mission : happened.created }
    case 'imported':
      return { title: happened.imported(told('file')) }
    case 'merged':
      if (details.merge_id) return { title: happened.merged_with(told('lead')) }
      return { title: happened.merged(told('file')) }
    case 'unmerged':
      return { title: happened.unmerged }
    case 'stage': {
      // A mail that moved its lead stores only the new stage.
      const title = details.from ? happened.stage(stage('from'), stage('to')) : stage('to')
      return { title, detail: told('reason') }
    }
    case 'copied':
      return { title: happened.copied(told('from'), told('to')) }
    case 'moved':
      return { title: happened.moved(told('from')) }
    case 'edited': {
      const names = Array.isArray(details.fields) ? details.fields : []
      const said = names.map(
        (name) => (fields as Record<string, string>)[String(name)] ?? String(name),
      ) // safe: a look-up that may find nothing
      return { title: happened.edited, detail: said.join(', ') }
    }
    case 'tagged':
      return {
        title: happened.tagged,
        detail: Array.isArray(details.tags) ? details.tags.join(', ') : undefined,
      }
    case 'note':
      return { title: happened.note, detail: told('text') }
    case 'task':
    case 'task_done':
      return { title: happened[kind], detail: told('title') }
    case 'evidence':
      return { title: happened.evidence, detail: told('source') }
    case 'replied': {
      const isDoubtful = details.only_address === true
      const subject = isDoubtful ? happened.only_address(told('subject')) : told('subject')
      const asks = (happened.opt_out as Record<string, string>)[told('opt_out')] // safe: a look-up that may find nothing
      const other = told('from') === '' ? '' : happened.from_other(told('from'))
      const detail = [subject, other, asks, told('text')].filter(Boolean).join('\n')
      return { title: happened.replied, detail }
    }
    case 'away': {
      const until = happened.away_until(told('until'))
      return { title: happened.away, detail: [until, told('text')].filter(Boolean).join('\n') }
    }
    case 'answered':
      return { title: happened.answered, detail: [told('subject'), told('text')].join('\n') }
    case 'sequence': {
      const isStart = details.what === 'started'
      const title = isStart
        ? happened.sequence.started(told('name'))
        : happened.sequence.stopped(told('name'))
      const why = (happened.stop_reasons as Record<string, string>)[told('reason')] // safe: a look-up that may find nothing
      return { title, detail: isStart ? undefined : why }
    }
    case 'draft':
    case 'approved':
    case 'sent':
    case 'opened':
    case 'clicked':
    case 'bounced':
    case 'unsubscribed':
      return { title: happened[kind], detail: told('subject') }
    default:
      return { title: happened.other, detail: kind }
  }
}
