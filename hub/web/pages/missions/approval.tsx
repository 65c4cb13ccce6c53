import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Globe, Lightbulb, type LucideIcon, PencilLine, TriangleAlert } from 'lucide-react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { useIsReadOnly } from '../../api/queries.ts'
import { isOnHub } from './approval-kind.ts'
import { missionsText } from './missions.text.ts'
import { type Approval, refreshMissions } from './queries.ts'

const ICONS: Record<Approval['kind'], LucideIcon> = {
  external: Globe,
  destructive: TriangleAlert,
  prompt: PencilLine,
  process: Lightbulb,
}

/** The action that an agent asks for. Exactly what is shown is approved or rejected. */
export function ApprovalCard({
  approval,
  isReadOnly,
  isPointedAt = false,
}: {
  approval: Approval
  isReadOnly: boolean
  isPointedAt?: boolean
}) {
  const text = useText(missionsText).approvals
  const queryClient = useQueryClient()
  const say = useToastError()
  // Rejecting stays possible in a project beyond the license.
  const isHubReadOnly = useIsReadOnly()
  const decide = useMutation({
    mutationFn: async (answer: 'yes' | 'for_all' | 'no') => {
      const { id, hash } = approval
      const more = answer === 'for_all' ? { for_all_projects: true } : {}
      const body = { id, hash, ...more }
      if (answer !== 'no') await ok(api.POST('/api/cockpit/approvals/approve', { body }))
      else await ok(api.POST('/api/cockpit/approvals/reject', { body: { id, reason: null } }))
    },
    onSuccess: (_, answer) => toast(answer === 'no' ? text.rejected : text.approved),
    onError: say,
    onSettled: () => refreshMissions(queryClient),
  })
  const Icon = ICONS[approval.kind]
  const label = isOnHub(approval) ? text.on_hub : text.kinds[approval.kind]
  const isWaiting = approval.status === 'waiting'
  const isRule = approval.action.do === 'add_prompt_rule'
  return (
    <article
      className={cn(
        'rounded-panel border bg-surface p-3',
        isPointedAt ? 'border-accent' : 'border-line',
      )}
    >
      <p className="flex items-center gap-2 text-sm text-muted">
        <Icon
          size={14}
          aria-hidden
          className={approval.kind === 'destructive' ? 'text-bad' : undefined}
        />
        <span className="min-w-0 flex-1 truncate">{label}</span>
        <Time at={approval.created_at} className="shrink-0 text-xs" />
      </p>
      <p className="mt-1 font-medium break-words">{approval.title}</p>
      <ActionDetails action={approval.action} />
      {isWaiting ? (
        <div className="mt-3 flex flex-wrap gap-2">
          <Button
            size="sm"
            variant="primary"
            disabled={isReadOnly}
            isPending={decide.isPending && decide.variables === 'yes'}
            onClick={() => decide.mutate('yes')}
          >
            {isRule ? text.approve_here : text.approve}
          </Button>
          {isRule ? (
            <Button
              size="sm"
              disabled={isReadOnly}
              isPending={decide.isPending && decide.variables === 'for_all'}
              onClick={() => decide.mutate('for_all')}
            >
              {text.approve_for_all}
            </Button>
          ) : null}
          <Button
            size="sm"
            disabled={isHubReadOnly}
            isPending={decide.isPending && decide.variables === 'no'}
            onClick={() => decide.mutate('no')}
          >
            {text.reject}
          </Button>
        </div>
      ) : (
        <p className="mt-2 text-sm text-muted">
          {text.statuses[approval.status]}
          {approval.outcome ? `: ${approval.outcome}` : ''}
        </p>
      )}
    </article>
  )
}

/** The exact action, because the approval is bound to its hash. */
export function ActionDetails({ action }: { action: Record<string, unknown> }) {
  const { details, fields } = useText(missionsText).approvals
  const entries = Object.entries(action).filter(([key]) => key !== 'do')
  if (entries.length === 0) return null
  return (
    <details className="mt-2 text-sm">
      <summary className="w-fit rounded-control text-muted hover:text-fg">{details}</summary>
      <dl className="mt-1 flex flex-col gap-1">
        {entries.map(([key, value]) => (
          <div key={key}>
            <dt className="text-xs text-muted">{Reflect.get(fields, key) ?? key}</dt>
            <dd className="max-h-48 overflow-y-auto font-mono text-xs break-words whitespace-pre-wrap">
              {written(value)}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function written(value: unknown): string {
  if (typeof value === 'string') return value
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string')
  return isList ? value.join('\n') : JSON.stringify(value, null, 1)
}
