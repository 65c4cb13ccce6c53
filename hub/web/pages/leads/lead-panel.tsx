import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ChevronDown, ChevronUp, CopyPlus, Ellipsis, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { IconButton } from '../../../../web/ui/button.tsx'
import { useKeys } from '../../../../web/ui/keys.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Sheet, useIsPhone } from '../../../../web/ui/layer.tsx'
import { Menu } from '../../../../web/ui/menu.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Tabs } from '../../../../web/ui/tabs.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { useWords } from '../../../../web/ui/words.tsx'
import { api, ok } from '../../api/client.ts'
import { projectsQuery } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { useDeleteLeads } from './delete-later.ts'
import { Evidence } from './lead-evidence.tsx'
import { LeadFields } from './lead-fields.tsx'
import { Notes } from './lead-notes.tsx'
import { LeadRefusal } from './lead-refusal.tsx'
import { Tasks } from './lead-tasks.tsx'
import { Timeline } from './lead-timeline.tsx'
import { leadsText } from './leads.text.ts'
import { type LeadWhole, leadQuery, nameOf, refreshLeads } from './queries.ts'
import { StageMark } from './stage.tsx'

type Props = {
  id: string | null
  onClose: () => void
  /** Moves to the next or previous lead of the list. */
  onStep?: (by: 1 | -1) => void
  isReadOnly: boolean
}

/** One lead next to the list: its details, evidence, history and tasks. */
export function LeadPanel({ id, onClose, onStep, isReadOnly }: Props) {
  const { panel: text } = useText(leadsText)
  const words = useWords()
  const query = useQuery({ ...leadQuery(id ?? ''), enabled: id !== null })
  const isPhone = useIsPhone()
  useKeys({ Escape: onClose }, id !== null && !isPhone)
  return (
    <Sheet
      isOpen={id !== null}
      onClose={onClose}
      label={text.label(query.data ? nameOf(query.data) : '')}
      isModeless
    >
      <div className="flex items-center gap-0.5 px-3 pt-3">
        {onStep ? (
          <>
            <IconButton label={text.previous} onClick={() => onStep(-1)}>
              <ChevronUp size={16} aria-hidden />
            </IconButton>
            <IconButton label={text.next} onClick={() => onStep(1)}>
              <ChevronDown size={16} aria-hidden />
            </IconButton>
          </>
        ) : null}
        <span className="flex-1" />
        {query.data ? (
          <LeadMenu lead={query.data} isReadOnly={isReadOnly} onGone={onClose} />
        ) : null}
        <IconButton label={words.close} onClick={onClose}>
          <X size={16} aria-hidden />
        </IconButton>
      </div>
      {query.isPending ? (
        <SkeletonRows rows={6} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <About lead={query.data} isReadOnly={isReadOnly} />
      )}
    </Sheet>
  )
}

function About({ lead, isReadOnly }: { lead: LeadWhole; isReadOnly: boolean }) {
  const { panel: text, stages, unnamed } = useText(leadsText)
  const [tab, setTab] = useState('details')
  const open = lead.tasks.filter(({ done_at }) => !done_at).length
  return (
    <>
      <header className="px-5 pt-1 pb-4">
        <h2 className="text-xl break-words">{nameOf(lead) || unnamed}</h2>
        <p className="mt-1 flex min-w-0 items-center gap-2 text-muted">
          <StageMark stage={lead.stage} />
          <span className="shrink-0">{stages[lead.stage]}</span>
          {lead.name && lead.company ? <span className="truncate">· {lead.company}</span> : null}
        </p>
      </header>
      {lead.copies.length > 0 ? (
        <p className="px-5 pb-3 text-sm text-muted">
          {text.copies}{' '}
          {lead.copies.map((copy) => (
            <Link
              key={copy.id}
              href={`/p/${copy.project}/leads?lead=${copy.id}`}
              className="mr-2 underline"
            >
              <span data-numbers>{copy.project}</span> ({stages[copy.stage]})
            </Link>
          ))}
        </p>
      ) : null}
      {lead.may_refuse ? <LeadRefusal id={lead.id} isReadOnly={isReadOnly} /> : null}
      <Tabs
        label={text.tabs}
        value={tab}
        onChange={setTab}
        tabs={[
          {
            value: 'details',
            label: text.details,
            content: <LeadFields key={lead.id} lead={lead} isReadOnly={isReadOnly} />,
          },
          { value: 'timeline', label: text.timeline, content: <Timeline id={lead.id} /> },
          {
            value: 'notes',
            label: text.notes,
            count: lead.notes.length,
            content: <Notes key={lead.id} lead={lead} isReadOnly={isReadOnly} />,
          },
          {
            value: 'tasks',
            label: text.tasks,
            count: open,
            content: <Tasks key={lead.id} lead={lead} isReadOnly={isReadOnly} />,
          },
          {
            value: 'evidence',
            label: text.evidence,
            count: lead.evidence.length,
            content: <Evidence evidence={lead.evidence} />,
          },
        ]}
      />
    </>
  )
}

function LeadMenu({
  lead,
  isReadOnly,
  onGone,
}: {
  lead: LeadWhole
  isReadOnly: boolean
  onGone: () => void
}) {
  const { panel: text } = useText(leadsText)
  const words = useText(common)
  const { slug } = useProject()
  const projects = useQuery(projectsQuery)
  const queryClient = useQueryClient()
  const say = useToastError()
  const remove = useDeleteLeads()
  const copy = useMutation({
    mutationFn: (to: { slug: string; name: string }) =>
      ok(api.POST('/api/cockpit/lead/tag_project', { body: { lead_id: lead.id, slug: to.slug } })),
    onSuccess: (_, to) => {
      toast(text.copied(to.name))
    },
    onError: say,
    onSettled: () => refreshLeads(queryClient),
  })
  const others = (projects.data ?? []).filter((one) => one.slug !== slug && !one.read_only)
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label={words.more_actions} disabled={isReadOnly}>
          <Ellipsis size={16} aria-hidden />
        </IconButton>
      }
      items={[
        ...(others.length > 0
          ? [
              { kind: 'label' as const, label: text.copy },
              ...others.map((one) => ({
                label: one.name,
                icon: <CopyPlus size={16} aria-hidden />,
                onSelect: () => copy.mutate(one),
              })),
              { kind: 'line' as const },
            ]
          : []),
        {
          label: text.delete,
          icon: <Trash2 size={16} aria-hidden />,
          isDanger: true,
          onSelect: () => {
            remove(slug, [lead.id])
            onGone()
          },
        },
      ]}
    />
  )
}
