import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, Pause, Play, SendHorizontal } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../../../web/ui/button.tsx'
import { Notice } from '../../../../web/ui/form.tsx'
import { Progress } from '../../../../web/ui/progress.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { useToastError } from '../../errors.tsx'
import { useLanguage, useText } from '../../i18n.ts'
import { stepsText } from './drafts.text.ts'
import { type Detailed, mailQuery, refreshDrafts, useStep } from './queries.ts'

/** What comes next, as the one button that says what will happen. */
export function NextStep({
  detailed,
  isFixed,
  onEdit,
}: {
  detailed: Detailed
  isFixed: boolean
  onEdit: () => void
}) {
  const text = useText(stepsText)
  const language = useLanguage()
  const { draft, gates } = detailed
  const { state } = draft
  const isShut = gates.some(({ ok, blocks }) => blocks && !ok)
  const parts: Partial<Record<typeof state, ReactNode>> = {
    draft: <Do step="render" draft={draft.id} label={text.render} isFixed={isFixed} />,
    rendered: <Approve detailed={detailed} isFixed={isFixed || isShut} />,
    approved: <Push detailed={detailed} isFixed={isFixed || isShut} />,
    pushed: <Send detailed={detailed} isFixed={isFixed || isShut} />,
    sending: <Sending detailed={detailed} isFixed={isFixed} />,
    unclear: (
      <div className="flex flex-wrap gap-2">
        <Do step="sent" draft={draft.id} label={text.was_sent} isFixed={isFixed} isQuiet />
        <Do step="not_sent" draft={draft.id} label={text.not_sent} isFixed={isFixed} isQuiet />
      </div>
    ),
    failed: <Edit label={text.edit} isFixed={isFixed} onEdit={onEdit} />,
    rejected: <Edit label={text.edit} isFixed={isFixed} onEdit={onEdit} />,
  }
  return (
    <div className="flex flex-col gap-3">
      <p className="text-pretty text-muted">{text.says[state]}</p>
      {draft.state_reason && (language === 'en' || state === 'rejected') ? (
        <Notice
          tone={state === 'failed' || state === 'unclear' ? 'bad' : 'plain'}
          text={draft.state_reason}
        />
      ) : null}
      {parts[state]}
    </div>
  )
}

const WIDE = 'w-full h-auto! min-h-10 py-2 whitespace-normal! text-center'

function Do({
  step,
  draft,
  label,
  isFixed,
  icon,
  isQuiet = false,
}: {
  step: Parameters<typeof useStep>[0]
  draft: string
  label: string
  isFixed: boolean
  icon?: ReactNode
  isQuiet?: boolean
}) {
  const { mutate, isPending } = useStep(step, draft)
  return (
    <Button
      variant={isQuiet ? 'secondary' : 'primary'}
      size={isQuiet ? 'md' : 'lg'}
      className={isQuiet ? undefined : WIDE}
      icon={icon}
      disabled={isFixed}
      isPending={isPending}
      onClick={() => mutate()}
    >
      {label}
    </Button>
  )
}

function Edit({ label, isFixed, onEdit }: { label: string; isFixed: boolean; onEdit: () => void }) {
  return (
    <Button variant="primary" size="lg" className={WIDE} disabled={isFixed} onClick={onEdit}>
      {label}
    </Button>
  )
}

/** How many there are, how many of them today, by what, and over how many days. */
function useForecast({ draft, recipients }: Detailed) {
  const { data } = useQuery(mailQuery)
  const count = draft.progress.total
    ? draft.progress.waiting
    : Math.max(0, recipients.will_get_it - draft.progress.sent)
  const cap = data?.state.cap_today ?? count
  const left = Math.max(0, cap - (data?.state.used_today ?? 0))
  const today = Math.min(count, left)
  const days = cap > 0 ? (count > left ? 1 + Math.ceil((count - left) / cap) : 1) : 1
  const isCampaign = draft.audience.kind === 'list' && Boolean(data?.mail.listmonk)
  const list = isCampaign ? (data?.state.lists[draft.project]?.name ?? '') : ''
  const [first] = recipients.sample.filter(({ skip }) => skip === null)
  const name = draft.audience.kind === 'lead' ? (first?.name ?? first?.email) : undefined
  return { count, cap, left, today, days, list, name, isListmonk: Boolean(data?.mail.listmonk) }
}

function Days({ forecast }: { forecast: ReturnType<typeof useForecast> }) {
  const text = useText(stepsText)
  const { today, count, days, left, cap } = forecast
  if (today >= count) return null
  return (
    <p className="text-center text-sm text-muted">
      {text.days(days)} · {text.days_why(left, cap)}
    </p>
  )
}

function Approve({ detailed, isFixed }: { detailed: Detailed; isFixed: boolean }) {
  const text = useText(stepsText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const forecast = useForecast(detailed)
  const { draft, hash } = detailed
  const approve = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/api/cockpit/draft/approve', {
          body: { id: draft.id, project: draft.project, ...(hash ? { hash } : {}) },
        }),
      ),
    onSuccess: () => toast(text.approved),
    onError: say,
    onSettled: () => refreshDrafts(queryClient),
  })
  const { name, count, today, list } = forecast
  return (
    <>
      <Button
        variant="primary"
        size="lg"
        className={WIDE}
        disabled={isFixed || count === 0}
        isPending={approve.isPending}
        onClick={() => approve.mutate()}
        icon={<Check size={16} aria-hidden />}
      >
        {name ? text.approve_one(name) : text.approve(count, today, list)}
      </Button>
      <Days forecast={forecast} />
    </>
  )
}

function Push({ detailed, isFixed }: { detailed: Detailed; isFixed: boolean }) {
  const text = useText(stepsText)
  const isListmonk = detailed.draft.via === 'tx' || detailed.draft.via === 'campaign'
  const label = isListmonk ? text.push_listmonk : text.push
  return <Do step="push" draft={detailed.draft.id} label={label} isFixed={isFixed} />
}

function Send({ detailed, isFixed }: { detailed: Detailed; isFixed: boolean }) {
  const text = useText(stepsText)
  const forecast = useForecast(detailed)
  const { name, count, today } = forecast
  return (
    <>
      <Do
        step="send"
        draft={detailed.draft.id}
        label={name ? text.send_one(name) : text.send(count, today)}
        isFixed={isFixed}
        icon={<SendHorizontal size={16} aria-hidden />}
      />
      <Days forecast={forecast} />
    </>
  )
}

function Sending({ detailed: { draft }, isFixed }: { detailed: Detailed; isFixed: boolean }) {
  const text = useText(stepsText)
  const { progress } = draft
  const counts = (['waiting', 'skipped', 'failed', 'unclear'] as const).filter(
    (key) => progress[key] > 0,
  )
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-baseline justify-between">
        <span className="font-medium" data-numbers>
          {text.of(progress.sent, progress.total)}
        </span>
        <span className="text-sm text-muted">
          {draft.paused_at ? (
            text.paused
          ) : draft.retry_at ? (
            <>
              {text.waits_until} <Time at={draft.retry_at} />
            </>
          ) : null}
        </span>
      </div>
      <Progress label={text.progress} value={progress.sent} max={progress.total} />
      {counts.length > 0 ? (
        <p className="text-sm text-muted">
          {counts.map((key) => text.counts[key](progress[key])).join(' · ')}
        </p>
      ) : null}
      <div>
        {draft.paused_at ? (
          <Do
            step="resume"
            draft={draft.id}
            label={text.resume}
            isFixed={isFixed}
            icon={<Play size={14} aria-hidden />}
            isQuiet
          />
        ) : (
          <Do
            step="pause"
            draft={draft.id}
            label={text.pause}
            isFixed={isFixed}
            icon={<Pause size={14} aria-hidden />}
            isQuiet
          />
        )}
      </div>
    </div>
  )
}
