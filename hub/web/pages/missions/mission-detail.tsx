import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, Check, RotateCw, Square } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { Language } from '../../../../shared/words/texts.ts'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button, IconButton } from '../../../../web/ui/button.tsx'
import { Notice } from '../../../../web/ui/form.tsx'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { FactsLine } from '../../../../web/ui/lists/facts-line.tsx'
import { Progress } from '../../../../web/ui/progress.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { useMissionAddress } from './address.ts'
import { AgentMark } from './agents.tsx'
import { ApprovalCard } from './approval.tsx'
import { useLive } from './live.ts'
import { missionsText } from './missions.text.ts'
import { approvalsQuery, type Details, isOpen, missionQuery, useMissionStep } from './queries.ts'
import { ResultView } from './result.tsx'
import { StatusBadge } from './status.tsx'
import { AskFurther, Conversation } from './thread.tsx'

/** One mission: its task, its progress and its result. */
export function MissionDetail({ id, isReadOnly }: { id: string; isReadOnly: boolean }) {
  const text = useText(missionsText)
  const query = useQuery(missionQuery(id))
  const { set } = useMissionAddress()
  return (
    <article
      aria-label={text.label(query.data?.task.slice(0, 80) ?? '')}
      className="@container min-h-0 min-w-0 flex-1 overflow-y-auto"
    >
      {query.isPending ? (
        <SkeletonRows rows={8} />
      ) : hasFailed(query) ? (
        <>
          <Button variant="ghost" className="m-2" onClick={() => set({ mission: null })}>
            {text.back}
          </Button>
          <FailedQuery error={query.error} onRetry={() => query.refetch()} />
        </>
      ) : (
        <Whole mission={query.data} isReadOnly={isReadOnly} />
      )}
    </article>
  )
}

function Whole({ mission, isReadOnly }: { mission: Details; isReadOnly: boolean }) {
  const text = useText(missionsText)
  const language = useLanguage()
  const { slug } = useProject()
  const { set } = useMissionAddress()
  // Stopping something stays possible in a project beyond the license.
  const isHubReadOnly = useIsReadOnly()
  const isWorking = isOpen(mission)
  const live = useLive(mission.id, isWorking)
  const cancel = useMissionStep('cancel')
  const retry = useMissionStep('retry', (next) => {
    toast(text.retried)
    set({ mission: next.id })
  })
  const approvals = useQuery(approvalsQuery(slug)).data ?? []
  const asked = approvals.filter(({ mission_id }) => mission_id === mission.id)
  return (
    <div className="mx-auto flex w-full max-w-4xl flex-col gap-6 px-4 py-5 md:px-8 md:py-6">
      <header className="flex flex-wrap items-start gap-3">
        <IconButton
          label={text.back}
          className="-ml-2 md:hidden"
          onClick={() => set({ mission: null })}
        >
          <ArrowLeft size={16} aria-hidden />
        </IconButton>
        <AgentMark agent={mission.department} size={36} />
        <div className="min-w-48 flex-1">
          <h2 className="text-lg break-words whitespace-pre-wrap">{mission.task}</h2>
          <FactsLine className="mt-1">
            <StatusBadge mission={mission} />
            {text.agents[mission.department]}
            {text.facts.by[mission.routed_by]}
            <Time at={mission.created_at} />
            {mission.started_at && mission.finished_at ? (
              <span>
                {text.facts.took} {duration(mission.started_at, mission.finished_at, language)}
              </span>
            ) : null}
            {mission.tokens > 0 ? (
              <span data-numbers>{text.facts.tokens(mission.tokens)}</span>
            ) : null}
          </FactsLine>
        </div>
        {isWorking ? (
          <Button
            className="@max-md:w-full"
            disabled={isHubReadOnly}
            isPending={cancel.isPending}
            icon={<Square size={14} aria-hidden />}
            onClick={() => cancel.mutate(mission.id)}
          >
            {text.cancel}
          </Button>
        ) : mission.status === 'failed' || mission.status === 'cancelled' ? (
          <Button
            variant="primary"
            className="@max-md:w-full"
            disabled={isReadOnly}
            isPending={retry.isPending}
            icon={<RotateCw size={14} aria-hidden />}
            onClick={() => retry.mutate(mission.id)}
          >
            {text.retry}
          </Button>
        ) : null}
      </header>
      <Conversation mission={mission} />
      {mission.reason ? (
        <Notice tone={mission.status === 'failed' ? 'bad' : 'plain'} text={mission.reason} />
      ) : null}
      {mission.status === 'processing' || (isWorking && mission.progress > 0) ? (
        <Progress label={text.facts.working} value={mission.progress} />
      ) : null}
      {asked.map((one) => (
        <ApprovalCard key={one.id} approval={one} isReadOnly={isReadOnly} />
      ))}
      {mission.left_out.length > 0 ? (
        <Notice tone="warn" text={[text.left_out, ...mission.left_out].join(' ')} />
      ) : null}
      {mission.result ? (
        <ResultView mission={mission} result={mission.result} isReadOnly={isReadOnly} />
      ) : null}
      {mission.status === 'done' ? (
        <AskFurther key={mission.id} mission={mission} isReadOnly={isReadOnly} />
      ) : null}
      <Steps mission={mission} live={live.text} isWorking={mission.status === 'processing'} />
    </div>
  )
}

function Steps({
  mission,
  live,
  isWorking,
}: {
  mission: Details
  live: string
  isWorking: boolean
}) {
  const { facts: text } = useText(missionsText)
  const language = useLanguage()
  if (mission.steps.length === 0 && !isWorking) return null
  return (
    <section aria-labelledby="steps">
      <h3 id="steps" className="mb-2 text-sm text-muted">
        {text.steps}
      </h3>
      <ol className="flex flex-col">
        {mission.steps.map((step) => (
          <li key={step.position} className="flex min-h-8 items-center gap-3">
            <Check size={14} className="shrink-0 text-good" aria-hidden />
            <span className="min-w-0 flex-1 truncate">{step.title}</span>
            <span className="shrink-0 text-sm text-muted" data-numbers>
              {step.tokens > 0 ? `${text.tokens(step.tokens)} · ` : ''}
              {duration(step.started_at, step.finished_at, language)}
            </span>
          </li>
        ))}
        {isWorking ? (
          <li className="flex gap-3 py-1.5">
            <span className="mt-1.5 size-2 shrink-0 animate-pulse rounded-full bg-warn ml-[3px]" />
            <div className="min-w-0 flex-1">
              <p className="text-muted">{live ? text.writing : text.working}</p>
              {live ? <LiveText text={live} /> : null}
            </div>
          </li>
        ) : null}
      </ol>
    </section>
  )
}

/** The model's output as it arrives; the newest line stays visible. */
function LiveText({ text }: { text: string }) {
  const ref = useRef<HTMLPreElement>(null)
  useEffect(() => {
    if (ref.current) ref.current.scrollTop = ref.current.scrollHeight
  }, [text])
  return (
    <pre
      ref={ref}
      data-live
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrollable region
      tabIndex={0}
      className="mt-1 max-h-48 overflow-y-auto rounded-panel border border-line bg-surface p-3 font-mono text-xs break-words whitespace-pre-wrap"
    >
      {text}
    </pre>
  )
}

/** A duration in its largest suitable unit. */
function duration(from: string, to: string, language: Language): string {
  const seconds = Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000)
  const [value, unit] =
    seconds < 90
      ? [seconds, 'second']
      : seconds < 5400
        ? [seconds / 60, 'minute']
        : [seconds / 3600, 'hour']
  return number(language, value, {
    style: 'unit',
    unit,
    unitDisplay: 'narrow',
    maximumFractionDigits: seconds < 10 ? 1 : 0,
  })
}
