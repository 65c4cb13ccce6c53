import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, ok } from '../../api/client.ts'
import { type Alert, deliveryQuery, zonesQuery } from '../../api/queries.ts'
import { useMayEdit } from '../../api/rights.ts'
import { AttemptLine } from '../../event/attempt.tsx'
import { deliveriesText } from '../../event/deliveries.text.ts'
import { DELIVERY_TONES } from '../../event/delivery.ts'
import { failuresText } from '../../event/failures.text.ts'
import { FailedQuery, hasFailed, useToastError } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { useText } from '../../ui/language.ts'
import { FactsLine } from '../../ui/lists/facts-line.tsx'
import { SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { alertsText } from './alerts.text.ts'

type AlertDelivery = Alert['deliveries'][number]

/** The way of each message about an alert, and how it is sent again. */
export function AlertDeliveries({ alert }: { alert: Alert }) {
  const text = useText(alertsText)
  const zone = useQuery(zonesQuery).data?.find(({ id }) => id === alert.zone_id)
  const mayEdit = useMayEdit()
  const again = useRedeliver(alert)
  const hasLost = alert.deliveries.some(({ status }) => status === 'failed' || status === 'expired')
  const maySend = zone && mayEdit(zone) && (hasLost || alert.status === 'recorded')
  return (
    <section className="flex flex-col gap-2">
      <header className="flex flex-wrap items-center justify-between gap-2">
        <h3>{text.deliveries}</h3>
        {maySend ? (
          <Button
            size="sm"
            isPending={again.isPending}
            onClick={() => again.mutate(undefined)}
            icon={<Send size={14} aria-hidden />}
          >
            {alert.status === 'recorded' ? text.send_now : text.send_failed}
          </Button>
        ) : null}
      </header>
      {alert.deliveries.length === 0 ? <p className="text-muted">{text.no_deliveries}</p> : null}
      <ul>
        {alert.deliveries.map((delivery) => (
          <DeliveryLine
            key={delivery.id}
            delivery={delivery}
            onAgain={zone && mayEdit(zone) ? () => again.mutate([delivery.id]) : undefined}
          />
        ))}
      </ul>
    </section>
  )
}

function useRedeliver(alert: Alert) {
  const text = useText(alertsText)
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (delivery_ids: string[] | undefined) =>
      ok(
        api.POST('/api/v1/alerts/{id}/redeliver', {
          params: { path: { id: alert.id } },
          body: delivery_ids ? { delivery_ids } : {},
        }),
      ),
    onSuccess: () => {
      toast(text.redelivered)
      void queryClient.invalidateQueries({ queryKey: ['alerts'] })
      void queryClient.invalidateQueries({ queryKey: ['channels'] })
    },
    onError: useToastError(),
  })
}

function DeliveryLine({
  delivery,
  onAgain,
}: {
  delivery: AlertDelivery
  onAgain: (() => void) | undefined
}) {
  const states = useText(deliveriesText)
  const failures = useText(failuresText)
  const names: Record<string, string> = states.message_names
  const [isOpen, setOpen] = useState(false)
  return (
    <li className="border-t border-line py-2">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <Badge tone={DELIVERY_TONES[delivery.status]}>{states.statuses[delivery.status]}</Badge>
          <span className="min-w-0 flex-1">
            <span className="font-medium">{delivery.channel}</span>{' '}
            <span className="text-muted">{names[delivery.kind] ?? delivery.kind}</span>
          </span>
          <span className="text-muted">{states.attempts(delivery.attempts)}</span>
          {delivery.delivered_at ? (
            <Time at={delivery.delivered_at} className="text-muted" />
          ) : null}
          {delivery.last_error ? (
            <code className="basis-full font-sans break-words text-bad">
              {failures.say(delivery.last_error)}
            </code>
          ) : null}
        </summary>
        {isOpen ? <Attempts delivery={delivery} onAgain={onAgain} /> : null}
      </details>
    </li>
  )
}

/** Every attempt with its answer, which only the list of its channel has. */
function Attempts({
  delivery,
  onAgain,
}: {
  delivery: AlertDelivery
  onAgain: (() => void) | undefined
}) {
  const text = useText(alertsText)
  const states = useText(deliveriesText)
  const found = useQuery(deliveryQuery(delivery.channel_id, delivery.id))
  if (found.isPending) return <SkeletonRows rows={1} />
  if (hasFailed(found)) return <FailedQuery error={found.error} onRetry={() => found.refetch()} />
  const attempts = found.data?.attempt_log ?? []
  return (
    <div className="flex flex-col gap-3 py-2 pl-2">
      {attempts.length === 0 ? <p className="text-sm text-muted">{states.no_attempts}</p> : null}
      <ol className="flex flex-col gap-2">
        {attempts.map((attempt) => (
          <li key={attempt.attempt}>
            <AttemptLine attempt={attempt} />
          </li>
        ))}
      </ol>
      <FactsLine>
        {delivery.redelivery_of ? text.is_again : null}
        {delivery.step === null ? null : text.is_step(delivery.step)}
        {found.data?.next_attempt_at && ['queued', 'sending'].includes(delivery.status) ? (
          <span>
            {states.next_attempt} <Time at={found.data.next_attempt_at} />
          </span>
        ) : null}
        <Link
          href={`/channels/${delivery.channel_id}`}
          className="text-accent-text hover:underline"
        >
          {text.its_channel}
        </Link>
      </FactsLine>
      {onAgain ? (
        <Button size="sm" className="self-start" onClick={onAgain}>
          {states.redeliver}
        </Button>
      ) : null}
    </div>
  )
}
