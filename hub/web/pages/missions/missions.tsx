import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Plus, SearchX, Workflow } from 'lucide-react'
import { useRef } from 'react'
import { Link } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { useKeys } from '../../../../web/ui/keys.ts'
import { useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { Empty, SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { useMissionAddress } from './address.ts'
import { AgentMark } from './agents.tsx'
import { ApprovalCard } from './approval.tsx'
import { Compose } from './compose.tsx'
import { MissionDetail } from './mission-detail.tsx'
import { missionsText } from './missions.text.ts'
import { approvalsQuery, type Mission, missionsQuery, STATUSES } from './queries.ts'
import { StatusBadge } from './status.tsx'

/** The missions: composing, watching, and their results. */
export function Missions() {
  const text = useText(missionsText)
  const { slug, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const { status, open, approval, isComposing, set } = useMissionAddress()
  const query = useInfiniteQuery(missionsQuery(slug, status))
  const missions = query.data?.pages.flatMap((page) => page.missions) ?? []
  const approvals = useQuery(approvalsQuery(slug)).data ?? []
  const asked = approvals.filter((one) => one.status === 'waiting' || one.id === approval)
  const list = useRef<HTMLDivElement>(null)
  const step = (by: number) => {
    const at = missions.findIndex(({ id }) => id === open)
    const next = missions[Math.max(0, Math.min(missions.length - 1, at + by))]
    if (!next) return
    set({ mission: next.id })
    list.current?.querySelector<HTMLElement>(`[data-mission="${next.id}"]`)?.focus()
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    c: isReadOnly ? undefined : () => set({ do: 'compose' }),
    Escape: open ? () => set({ mission: null }) : undefined,
  })
  const compose = (
    <Button
      variant="primary"
      disabled={isReadOnly}
      onClick={() => set({ do: 'compose' })}
      icon={<Plus size={16} aria-hidden />}
    >
      {text.compose}
    </Button>
  )
  const isEmpty = missions.length === 0 && asked.length === 0
  return (
    <Page
      title={text.title}
      actions={
        <>
          <Select
            aria-label={text.status}
            className="w-24 md:w-36"
            value={status ?? ''}
            onChange={(event) => set({ status: event.target.value || null })}
            options={[
              { value: '', label: text.all },
              ...STATUSES.map((one) => ({ value: one, label: text.statuses[one] })),
            ]}
          />
          {compose}
        </>
      }
    >
      <div className="flex h-full min-h-0">
        <div
          ref={list}
          className={cn(
            'min-h-0 w-full shrink-0 overflow-y-auto border-line md:w-80 md:border-r',
            open && 'max-md:hidden',
            isEmpty && !query.isPending && !open && 'md:w-full md:border-0',
          )}
        >
          {asked.length > 0 ? (
            <section aria-labelledby="asked" className="border-b border-line p-4">
              <h2 id="asked" className="mb-2 text-sm text-muted">
                {text.approvals.title}
              </h2>
              <ul className="flex flex-col gap-2">
                {asked.map((one) => (
                  <li key={one.id}>
                    <ApprovalCard
                      approval={one}
                      isReadOnly={isReadOnly}
                      isPointedAt={one.id === approval}
                    />
                  </li>
                ))}
              </ul>
            </section>
          ) : null}
          {query.isPending ? (
            <SkeletonRows rows={10} />
          ) : hasFailed(query) ? (
            <FailedQuery error={query.error} onRetry={() => query.refetch()} />
          ) : missions.length > 0 ? (
            <>
              <ul aria-label={text.list}>
                {missions.map((mission) => (
                  <li key={mission.id} className="border-b border-line">
                    <Row mission={mission} isHere={mission.id === open} status={status} />
                  </li>
                ))}
              </ul>
              <More query={query} />
            </>
          ) : status ? (
            <Empty
              picture={<SearchX size={24} strokeWidth={1.5} aria-hidden />}
              title={text.none.title}
              text=""
              action={<Button onClick={() => set({ status: null })}>{text.none.action}</Button>}
            />
          ) : (
            <Empty
              picture={<Workflow size={24} strokeWidth={1.5} aria-hidden />}
              title={text.empty.title}
              text={text.empty.text}
              action={compose}
            />
          )}
        </div>
        {open ? (
          <MissionDetail key={open} id={open} isReadOnly={isReadOnly} />
        ) : isEmpty ? null : (
          <div className="flex flex-1 items-center justify-center max-md:hidden">
            <Empty
              picture={<Workflow size={24} strokeWidth={1.5} aria-hidden />}
              title={text.choose.title}
              text={text.choose.text}
            />
          </div>
        )}
      </div>
      <Compose
        isOpen={isComposing && !isReadOnly}
        onClose={() => set({ do: null })}
        onSent={(mission) => set({ do: null, status: null, mission })}
      />
    </Page>
  )
}

function Row({
  mission,
  isHere,
  status,
}: {
  mission: Mission
  isHere: boolean
  status: string | undefined
}) {
  const text = useText(missionsText)
  return (
    <Link
      href={`/p/${mission.project}/missions?${status ? `status=${status}&` : ''}mission=${mission.id}`}
      data-mission={mission.id}
      aria-current={isHere ? 'true' : undefined}
      className={cn(
        'flex gap-3 px-4 py-3 -outline-offset-2 md:px-5',
        isHere ? 'bg-surface shadow-[inset_2px_0_0_var(--accent)]' : 'hover:bg-hover',
      )}
    >
      <AgentMark agent={mission.department} />
      <span className="flex min-w-0 flex-1 flex-col gap-1">
        <span className="line-clamp-2 font-medium break-words">{mission.task}</span>
        <span className="flex items-center gap-2 text-xs text-muted">
          <StatusBadge mission={mission} />
          <span className="truncate">{text.agents[mission.department]}</span>
          <Time at={mission.created_at} className="ml-auto shrink-0" />
        </span>
      </span>
    </Link>
  )
}
