import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  ArrowLeft,
  Check,
  ChevronDown,
  Eye,
  FileCheck,
  Map as MapIcon,
  RotateCcw,
} from 'lucide-react'
import { Link } from 'wouter'
import { api, ok } from '../../api/client.ts'
import { type Alert, alertQuery } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { Severity } from '../../event/severity.tsx'
import { Why } from '../../event/why.tsx'
import { ApiForm, FailedQuery, hasFailed, useToastError } from '../../shared/errors.tsx'
import { Button, buttonClass, IconButton } from '../../ui/button.tsx'
import { timeNow } from '../../ui/clock.ts'
import { Textarea } from '../../ui/field.tsx'
import { FormError, FormField, Submit } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { FactsLine } from '../../ui/lists/facts-line.tsx'
import { Menu } from '../../ui/menu.tsx'
import { SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWords } from '../../ui/words.tsx'
import { AlertDeliveries } from './alert-deliveries.tsx'
import { alertsText } from './alerts.text.ts'
import { useAlertPatch, useResolve } from './resolve.ts'
import { Timeline } from './timeline.tsx'

/** One alert: why it was raised, what became of it, the way of each message, and what can be done. */
export function AlertDetail({ id, onClose }: { id: string; onClose: () => void }) {
  const words = useWords()
  const found = useQuery(alertQuery(id))
  if (found.isPending) return <SkeletonRows />
  if (hasFailed(found)) return <FailedQuery error={found.error} onRetry={() => found.refetch()} />
  const alert = found.data
  return (
    <article className="mx-auto flex max-w-3xl flex-col gap-6 p-4 md:p-6">
      <header className="flex flex-col gap-2">
        <IconButton label={words.close} onClick={onClose} className="md:hidden">
          <ArrowLeft size={16} aria-hidden />
        </IconButton>
        <h2 className="text-xl text-pretty">{alert.event.title}</h2>
        <State alert={alert} />
        <Actions alert={alert} />
      </header>
      <Reason alert={alert} />
      <Note alert={alert} />
      <AlertDeliveries alert={alert} />
      <Timeline alert={alert} />
      <p className="text-xs text-muted">{alert.attribution}</p>
    </article>
  )
}

function State({ alert }: { alert: Alert }) {
  const text = useText(alertsText)
  return (
    <FactsLine>
      <Severity severity={alert.severity} />
      <Link href={`/zones/${alert.zone_id}`} className="text-accent-text hover:underline">
        {alert.zone_name}
      </Link>
      {text.statuses[alert.status]}
      <Time at={alert.raised_at} />
      {alert.seen_at && !alert.resolved ? (
        <span>
          {text.seen} <Time at={alert.seen_at} />
        </span>
      ) : null}
      {alert.resolved_at ? (
        <span>
          {text.is_resolved} <Time at={alert.resolved_at} />
        </span>
      ) : null}
    </FactsLine>
  )
}

const SNOOZES = { hour: 1, day: 24, week: 168 } as const

function Actions({ alert }: { alert: Alert }) {
  const text = useText(alertsText)
  const queryClient = useQueryClient()
  const onError = useToastError()
  const resolve = useResolve()
  const acknowledge = useMutation({
    mutationFn: () =>
      ok(api.POST('/api/v1/alerts/{id}/acknowledge', { params: { path: { id: alert.id } } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['alerts'] }),
    onError,
  })
  const snooze = useMutation({
    mutationFn: (hours: number) =>
      ok(
        api.PATCH('/api/v1/zones/{id}', {
          params: { path: { id: alert.zone_id } },
          body: { snoozed_until: new Date(timeNow() + hours * 3_600_000).toISOString() },
        }),
      ),
    onSuccess: () => {
      toast(text.snoozed(alert.zone_name))
      void queryClient.invalidateQueries({ queryKey: ['zones'] })
    },
    onError,
  })
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        variant={alert.resolved ? 'secondary' : 'primary'}
        isPending={resolve.isPending}
        onClick={() => resolve.mutate(alert)}
        icon={
          alert.resolved ? <RotateCcw size={14} aria-hidden /> : <Check size={14} aria-hidden />
        }
      >
        {alert.resolved ? text.reopen : text.resolve}
      </Button>
      {alert.seen_at ? null : (
        <Button
          isPending={acknowledge.isPending}
          onClick={() => acknowledge.mutate()}
          icon={<Eye size={14} aria-hidden />}
        >
          {text.acknowledge}
        </Button>
      )}
      <Menu
        trigger={
          <Button icon={<ChevronDown size={14} aria-hidden />} isPending={snooze.isPending}>
            {text.snooze}
          </Button>
        }
        items={(['hour', 'day', 'week'] as const).map((name) => ({
          label: text.snoozes[name],
          onSelect: () => snooze.mutate(SNOOZES[name]),
        }))}
      />
      <Link
        href={`/?event=${encodeURIComponent(alert.event_id)}`}
        className={buttonClass({ variant: 'ghost' })}
      >
        <MapIcon size={14} aria-hidden /> {text.on_map}
      </Link>
      <Link href={`/alerts/${alert.id}/evidence`} className={buttonClass({ variant: 'ghost' })}>
        <FileCheck size={14} aria-hidden /> {text.evidence}
      </Link>
    </div>
  )
}

function Reason({ alert }: { alert: Alert }) {
  const text = useText(alertsText)
  return (
    <section className="flex flex-col gap-2">
      <h3>{text.why}</h3>
      <Why zone_id={alert.zone_id} event_id={alert.event_id} />
    </section>
  )
}

function Note({ alert }: { alert: Alert }) {
  const text = useText(alertsText)
  const words = useText(common)
  const patch = useAlertPatch()
  return (
    <ApiForm
      className="flex flex-col gap-2"
      onSubmit={async ({ note = '' }) => {
        await patch.mutateAsync({ id: alert.id, note: note || null })
        toast(text.noted)
      }}
    >
      <FormField name="note" label={text.note} hint={text.note_hint}>
        <Textarea rows={2} defaultValue={alert.note ?? ''} maxLength={4000} />
      </FormField>
      <FormError />
      <Submit variant="secondary" className="self-start">
        {words.save}
      </Submit>
    </ApiForm>
  )
}
