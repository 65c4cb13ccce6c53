import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, SendHorizontal } from 'lucide-react'
import type { ReactNode } from 'react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { canStep, type Step } from '../../../mail/drafts/flow.ts'
import { api, ok } from '../../api/client.ts'
import { mailQuery } from '../../api/queries.ts'
import { stepsText } from './drafts.text.ts'
import { type Detailed, refreshDrafts, useStep } from './queries.ts'

type Given = { detailed: Detailed; isReadOnly: boolean }

/** The steps that failed checks prevent. */
const GATED: Step[] = ['approve', 'push', 'send']

/**
 * The next step, as one button that says what will happen. Where there is no space next to the
 * mail, it floats over the end of it.
 */
export function NextStep({ detailed, isReadOnly, onEdit }: Given & { onEdit: () => void }) {
  const text = useText(stepsText)
  const { draft, gates } = detailed
  const shut = gates.filter(({ ok, blocks }) => blocks && !ok).length
  const given = { detailed, isReadOnly: isReadOnly || shut > 0 }
  const edit = <Big label={text.edit} isReadOnly={isReadOnly} onClick={onEdit} />
  const parts: Partial<Record<typeof draft.state, ReactNode>> = {
    draft: <Render {...given} isReadOnly={isReadOnly} />,
    rendered: <Approve {...given} />,
    approved: <Push {...given} />,
    pushed: <Send {...given} />,
    failed: edit,
    rejected: edit,
  }
  const part = parts[draft.state]
  if (!part) return null
  const isHeldBack = shut > 0 && GATED.some((step) => canStep(step, draft.state))
  return (
    <div
      data-next
      className="flex flex-col gap-2 @max-3xl:sticky @max-3xl:bottom-0 @max-3xl:z-10 @max-3xl:order-last @max-3xl:border-t @max-3xl:border-line @max-3xl:bg-surface @max-3xl:px-4 @max-3xl:py-3 md:@max-3xl:pb-[max(12px,env(safe-area-inset-bottom))] @3xl:col-start-2 @3xl:row-start-2 @3xl:border-l @3xl:border-line @3xl:px-5 @3xl:pt-3"
    >
      {isHeldBack ? (
        <p className="text-center text-sm text-bad @3xl:hidden">{text.shut(shut)}</p>
      ) : null}
      {part}
    </div>
  )
}

function Big({
  label,
  icon,
  isReadOnly,
  isPending = false,
  onClick,
}: {
  label: string
  icon?: ReactNode
  isReadOnly: boolean
  isPending?: boolean
  onClick: () => void
}) {
  return (
    <Button
      variant="primary"
      size="lg"
      className="w-full h-auto! min-h-10 py-2 whitespace-normal! text-center"
      icon={icon}
      disabled={isReadOnly}
      isPending={isPending}
      onClick={onClick}
    >
      {label}
    </Button>
  )
}

/** How many mails, how many of them today, by what, and over how many days. */
function useForecast({ draft, recipients, cap_today: cap, left_today: left }: Detailed) {
  const { data } = useQuery(mailQuery)
  const count = draft.progress.total
    ? draft.progress.waiting
    : Math.max(0, recipients.will_get_it - draft.progress.sent)
  const today = Math.min(count, left)
  const days = cap > 0 ? (count > left ? 1 + Math.ceil((count - left) / cap) : 1) : 1
  const isCampaign = draft.audience.kind === 'list' && Boolean(data?.mail.listmonk)
  const list = isCampaign ? (data?.state.lists[draft.project]?.name ?? '') : ''
  const [first] = recipients.sample.filter(({ skip }) => skip === null)
  const name = draft.audience.kind === 'lead' ? (first?.name ?? first?.email) : undefined
  return { count, cap, left, today, days, list, name }
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

function Render({ detailed, isReadOnly }: Given) {
  const text = useText(stepsText)
  const { mutate, isPending } = useStep('render', detailed.draft.id)
  return (
    <Big
      label={text.render}
      isReadOnly={isReadOnly}
      isPending={isPending}
      onClick={() => mutate()}
    />
  )
}

function Approve({ detailed, isReadOnly }: Given) {
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
      <Big
        label={name ? text.approve_one(name) : text.approve(count, today, list)}
        icon={<Check size={16} aria-hidden />}
        isReadOnly={isReadOnly || count === 0}
        isPending={approve.isPending}
        onClick={() => approve.mutate()}
      />
      <Days forecast={forecast} />
    </>
  )
}

function Push({ detailed: { draft }, isReadOnly }: Given) {
  const text = useText(stepsText)
  const { mutate, isPending } = useStep('push', draft.id)
  const isListmonk = draft.via === 'tx' || draft.via === 'campaign'
  const label = isListmonk ? text.push_listmonk : text.push
  return (
    <Big label={label} isReadOnly={isReadOnly} isPending={isPending} onClick={() => mutate()} />
  )
}

function Send({ detailed, isReadOnly }: Given) {
  const text = useText(stepsText)
  const { mutate, isPending } = useStep('send', detailed.draft.id)
  const forecast = useForecast(detailed)
  const { name, count, today } = forecast
  return (
    <>
      <Big
        label={name ? text.send_one(name) : text.send(count, today)}
        icon={<SendHorizontal size={16} aria-hidden />}
        isReadOnly={isReadOnly}
        isPending={isPending}
        onClick={() => mutate()}
      />
      <Days forecast={forecast} />
    </>
  )
}
