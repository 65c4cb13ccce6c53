import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { ChevronDown } from 'lucide-react'
import { Link } from 'wouter'
import { api, ok } from '../../api/client.ts'
import { type Channel, type ChannelDelivery, channelDeliveriesQuery } from '../../api/queries.ts'
import { AttemptLine } from '../../event/attempt.tsx'
import { deliveriesText } from '../../event/deliveries.text.ts'
import { DELIVERY_TONES } from '../../event/delivery.ts'
import { failuresText } from '../../event/failures.text.ts'
import { FailedQuery, hasFailed, useToastError } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { timeNow } from '../../ui/clock.ts'
import { useText } from '../../ui/language.ts'
import { More } from '../../ui/lists/more.tsx'
import { Menu } from '../../ui/menu.tsx'
import { SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { channelsText } from './channels.text.ts'

const HOURS = { hour: 1, day: 24, week: 168 } as const
const LOST = ['failed', 'expired', 'cancelled']

/** What was sent to a channel, with each attempt and answer, and how it is sent again. */
export function Deliveries({ channel, mayEdit }: { channel: Channel; mayEdit: boolean }) {
  const text = useText(channelsText)
  const found = useInfiniteQuery(channelDeliveriesQuery(channel.id))
  const deliveries = found.data?.pages.flatMap((page) => page.deliveries) ?? []
  const hasLost = deliveries.some(
    ({ status, kind }) => LOST.includes(status) && kind !== 'channel.test',
  )
  return (
    <section className="flex flex-col gap-2">
      <header className="flex flex-wrap items-center justify-between gap-2">
        <h3>{text.deliveries}</h3>
        {mayEdit && hasLost ? <Recover channel={channel} /> : null}
      </header>
      {found.isPending ? <SkeletonRows rows={3} /> : null}
      {hasFailed(found) ? (
        <FailedQuery error={found.error} onRetry={() => found.refetch()} />
      ) : null}
      {found.data && deliveries.length === 0 ? (
        <p className="text-muted">{text.no_deliveries}</p>
      ) : null}
      <ul>
        {deliveries.map((delivery) => (
          <DeliveryLine key={delivery.id} delivery={delivery} mayEdit={mayEdit} />
        ))}
      </ul>
      <More query={found} className="p-0" />
    </section>
  )
}

function Recover({ channel }: { channel: Channel }) {
  const text = useText(channelsText)
  const queryClient = useQueryClient()
  const onError = useToastError()
  const recover = useMutation({
    mutationFn: (hours: number) =>
      ok(
        api.POST('/api/v1/channels/{id}/recover', {
          params: { path: { id: channel.id } },
          body: { since: new Date(timeNow() - hours * 3_600_000).toISOString() },
        }),
      ),
    onSuccess: ({ recovered }) => {
      toast(text.recovered(recovered))
      void queryClient.invalidateQueries({ queryKey: ['channels'] })
    },
    onError,
  })
  return (
    <Menu
      align="end"
      trigger={
        <Button
          size="sm"
          isPending={recover.isPending}
          icon={<ChevronDown size={14} aria-hidden />}
        >
          {text.recover}
        </Button>
      }
      items={(['hour', 'day', 'week'] as const).map((name) => ({
        label: text.recover_since[name],
        onSelect: () => recover.mutate(HOURS[name]),
      }))}
    />
  )
}

function DeliveryLine({ delivery, mayEdit }: { delivery: ChannelDelivery; mayEdit: boolean }) {
  const text = useText(channelsText)
  const states = useText(deliveriesText)
  const failures = useText(failuresText)
  const names: Record<string, string> = states.message_names
  return (
    <li className="border-t border-line py-2">
      <details>
        <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <Badge tone={DELIVERY_TONES[delivery.status]}>{states.statuses[delivery.status]}</Badge>
          <span className="min-w-0 flex-1">{names[delivery.kind] ?? delivery.kind}</span>
          <span className="text-muted">{states.attempts(delivery.attempts)}</span>
          <Time at={delivery.created_at} className="text-muted" />
        </summary>
        <div className="flex flex-col gap-3 py-2 pl-2">
          {delivery.attempt_log.length === 0 && delivery.last_error ? (
            <code className="font-sans text-sm break-words text-bad">
              {failures.say(delivery.last_error)}
            </code>
          ) : null}
          <ol className="flex flex-col gap-2">
            {delivery.attempt_log.map((attempt) => (
              <li key={attempt.attempt}>
                <AttemptLine attempt={attempt} />
              </li>
            ))}
          </ol>
          {delivery.next_attempt_at && ['queued', 'sending'].includes(delivery.status) ? (
            <p className="text-sm text-muted">
              {states.next_attempt} <Time at={delivery.next_attempt_at} />
            </p>
          ) : null}
          <div className="flex flex-wrap items-center gap-3">
            {mayEdit && delivery.alert_id ? <Redeliver delivery={delivery} /> : null}
            {delivery.alert_id ? (
              <Link
                href={`/alerts/${delivery.alert_id}`}
                className="inline-flex min-h-6 items-center text-sm text-accent-text hover:underline"
              >
                {text.its_alert}
              </Link>
            ) : null}
          </div>
        </div>
      </details>
    </li>
  )
}

function Redeliver({ delivery }: { delivery: ChannelDelivery }) {
  const text = useText(channelsText)
  const states = useText(deliveriesText)
  const queryClient = useQueryClient()
  const again = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/api/v1/alerts/{id}/redeliver', {
          params: { path: { id: delivery.alert_id ?? '' } },
          body: { delivery_ids: [delivery.id] },
        }),
      ),
    onSuccess: () => {
      toast(text.redelivered)
      void queryClient.invalidateQueries({ queryKey: ['channels'] })
      void queryClient.invalidateQueries({ queryKey: ['alerts'] })
    },
    onError: useToastError(),
  })
  return (
    <Button size="sm" isPending={again.isPending} onClick={() => again.mutate()}>
      {states.redeliver}
    </Button>
  )
}
