import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { ApiForm, FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button, IconButton } from '../../../../web/ui/button.tsx'
import { CopyText } from '../../../../web/ui/copy.tsx'
import { Checkbox, Field, Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { More } from '../../../../web/ui/lists/more.tsx'
import { Menu } from '../../../../web/ui/menu.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { projectsQuery } from '../../api/queries.ts'
import { automationText } from './automation.text.ts'
import { Ask } from './members.tsx'
import { Card, Section } from './section.tsx'

type Webhook = Schemas['HubWebhook']
type Delivery = Schemas['HubDelivery']
type Event = Webhook['events'][number]

const KEY = ['settings', 'webhooks']
const PAGE = 20

type Shown = { name: string; secret: string }

/** The addresses that are told what happens. */
export function Webhooks() {
  const { webhooks: text } = useText(automationText)
  const query = useQuery({
    queryKey: KEY,
    queryFn: async () => (await ok(api.GET('/api/cockpit/settings/webhooks'))).webhooks,
  })
  const [shown, setShown] = useState<Shown>()
  return (
    <Section title={text.title} text={text.text}>
      <Add onSecret={setShown} />
      {shown ? (
        <Card title={text.secret(shown.name)} text={text.secret_hint}>
          <CopyText label={text.secret(shown.name)} text={shown.secret} />
        </Card>
      ) : null}
      {query.isPending ? (
        <SkeletonRows rows={3} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : query.data.length === 0 ? (
        <p className="text-muted">{text.empty}</p>
      ) : (
        query.data.map((webhook) => <One key={webhook.id} webhook={webhook} onSecret={setShown} />)
      )}
    </Section>
  )
}

function Add({ onSecret }: { onSecret: (shown: Shown) => void }) {
  const { webhooks: text } = useText(automationText)
  const queryClient = useQueryClient()
  const projects = useQuery(projectsQuery).data ?? []
  const { 'webhook.test': _, ...names } = text.event_names
  const all = Object.entries(names) as [Event, string][] // safe: the events without the test
  const [events, setEvents] = useState<Event[]>(all.map(([event]) => event))
  const [project, setProject] = useState('')
  const [allow_private, setAllowed] = useState(false)
  const [round, setRound] = useState(0)
  return (
    <Card title={text.add}>
      <ApiForm
        key={round}
        className="flex flex-col gap-4"
        onSubmit={async ({ label = '', url = '' }) => {
          const body = { label, url, project: project || null, events, allow_private }
          const made = await ok(api.POST('/api/cockpit/settings/webhooks', { body }))
          onSecret({ name: label, secret: made.secret })
          setRound(round + 1)
          await queryClient.invalidateQueries({ queryKey: KEY })
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <FormField name="label" label={text.label}>
            <Input autoComplete="off" maxLength={120} />
          </FormField>
          <Field label={text.project}>
            <Select
              value={project}
              onChange={({ target }) => setProject(target.value)}
              options={[
                { value: '', label: text.all_projects },
                ...projects.map(({ slug, name }) => ({ value: slug, label: name })),
              ]}
            />
          </Field>
        </div>
        <FormField name="url" label={text.url} hint={text.url_hint}>
          <Input inputMode="url" autoComplete="off" spellCheck={false} maxLength={2000} />
        </FormField>
        <fieldset className="grid gap-1 md:grid-cols-2">
          <legend className="mb-1 text-sm font-medium">{text.events}</legend>
          {all.map(([event, label]) => (
            <label
              key={event}
              htmlFor={`event-${event}`}
              className="flex min-h-8 items-center gap-2"
            >
              <Checkbox
                id={`event-${event}`}
                checked={events.includes(event)}
                onChange={({ target }) =>
                  setEvents(
                    target.checked ? [...events, event] : events.filter((one) => one !== event),
                  )
                }
              />
              {label}
            </label>
          ))}
        </fieldset>
        <div>
          <label htmlFor="allow-private" className="flex min-h-8 items-center gap-2">
            <Checkbox
              id="allow-private"
              checked={allow_private}
              onChange={({ target }) => setAllowed(target.checked)}
            />
            {text.allow_private}
          </label>
          <p className="text-sm text-muted text-pretty">{text.allow_private_hint}</p>
        </div>
        <FormError />
        <Actions className="mt-0">
          <Submit disabled={events.length === 0}>{text.submit}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}

function One({ webhook, onSecret }: { webhook: Webhook; onSecret: (shown: Shown) => void }) {
  const { webhooks: text } = useText(automationText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const [isOpen, setOpen] = useState(false)
  const [asked, setAsked] = useState<'rotate' | 'delete'>()
  const [tested, setTested] = useState<Delivery>()
  const body = { id: webhook.id }
  const settled = () => queryClient.invalidateQueries({ queryKey: KEY })
  const test = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/settings/webhooks/test', { body })),
    onSuccess: ({ delivery }) => setTested(delivery),
    onError: say,
    onSettled: settled,
  })
  const rotate = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/settings/webhooks/rotate', { body })),
    onSuccess: ({ secret }) => onSecret({ name: webhook.label, secret }),
    onError: say,
    onSettled: () => setAsked(undefined),
  })
  const change = useMutation({
    mutationFn: (enabled: boolean) =>
      ok(api.POST('/api/cockpit/settings/webhooks/change', { body: { ...body, enabled } })),
    onError: say,
    onSettled: settled,
  })
  const remove = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/settings/webhooks/delete', { body })),
    onSuccess: () => toast(text.deleted),
    onError: say,
    onSettled: settled,
  })
  const { disabled_reason: reason, enabled, label } = webhook
  return (
    <Card>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <div className="min-w-40 flex-1">
          <p className="truncate font-medium" data-numbers>
            {label}
          </p>
          <p className="break-all text-sm text-muted">
            <code>{webhook.url}</code>
          </p>
        </div>
        {enabled ? null : <Badge tone="warn">{reason ? text[reason] : text.off}</Badge>}
        <Button size="sm" isPending={test.isPending} onClick={() => test.mutate()}>
          {text.test}
        </Button>
        <Menu
          align="end"
          items={[
            { label: text.rotate, onSelect: () => setAsked('rotate') },
            {
              label: enabled ? text.disable : text.enable,
              onSelect: () => change.mutate(!enabled),
            },
            { kind: 'line' },
            { label: text.delete, isDanger: true, onSelect: () => setAsked('delete') },
          ]}
          trigger={
            <IconButton label={text.actions(label)}>
              <Ellipsis size={16} aria-hidden />
            </IconButton>
          }
        />
      </div>
      <p className="mt-1 text-sm text-muted text-pretty">
        <span data-numbers>{webhook.project ?? text.all_projects}</span>
        {': '}
        {webhook.events.map((event) => text.event_names[event]).join(', ')}
      </p>
      {tested ? <DeliveryRow delivery={tested} /> : null}
      <Button size="sm" variant="ghost" className="mt-2" onClick={() => setOpen(!isOpen)}>
        {isOpen ? text.hide : text.deliveries}
      </Button>
      {isOpen ? <Deliveries id={webhook.id} /> : null}
      {asked ? (
        <Ask
          title={asked === 'rotate' ? text.rotate : text.delete_title(label)}
          text={asked === 'rotate' ? text.rotate_text : text.delete_text}
          action={asked === 'rotate' ? text.rotate : text.delete}
          isPending={rotate.isPending || remove.isPending}
          onConfirm={() => (asked === 'rotate' ? rotate : remove).mutate()}
          onClose={() => setAsked(undefined)}
        />
      ) : null}
    </Card>
  )
}

function Deliveries({ id }: { id: string }) {
  const { webhooks: text } = useText(automationText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const key = [...KEY, id, 'deliveries']
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => {
      const cursor = pageParam ? { cursor: pageParam } : {}
      const params = { query: { webhook_id: id, limit: PAGE, ...cursor } }
      return ok(api.GET('/api/cockpit/settings/webhooks/deliveries', { params }))
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
  const again = useMutation({
    mutationFn: (delivery: string) =>
      ok(api.POST('/api/cockpit/settings/webhooks/redeliver', { body: { id: delivery } })),
    onSuccess: () => toast(text.queued),
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: key }),
  })
  if (query.isPending) return <SkeletonRows rows={3} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const rows = query.data.pages.flatMap((page) => page.deliveries)
  if (rows.length === 0) return <p className="mt-2 text-muted">{text.no_deliveries}</p>
  return (
    <>
      {rows.map((delivery) => (
        <DeliveryRow
          key={delivery.id}
          delivery={delivery}
          onAgain={() => again.mutate(delivery.id)}
        />
      ))}
      <More query={query} className="pb-0" />
    </>
  )
}

const TONES = { queued: 'plain', sending: 'plain', succeeded: 'good', failed: 'bad' } as const

function DeliveryRow({ delivery, onAgain }: { delivery: Delivery; onAgain?: () => void }) {
  const { webhooks: text } = useText(automationText)
  const { event, state, attempts, created_at } = delivery
  const name = Object.entries(text.event_names).find(([one]) => one === event)?.[1] ?? event
  return (
    <div className="mt-3 border-t border-line pt-3 text-sm">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{name}</span>
        <Badge tone={TONES[state]}>{text.states[state]}</Badge>
        <Time at={created_at} className="text-muted" />
        {onAgain && (state === 'failed' || state === 'succeeded') ? (
          <Button size="sm" variant="ghost" className="ml-auto" onClick={onAgain}>
            {text.again}
          </Button>
        ) : null}
      </p>
      <ul className="mt-1 text-muted">
        {attempts.map((attempt) => (
          <li key={attempt.at} className="break-words">
            {attempt.failure ? text.failures[attempt.failure] : text.answer(String(attempt.status))}
            {' · '}
            <Time at={attempt.at} />
            {attempt.answer ? (
              <code className="ml-2 break-all">{attempt.answer.slice(0, 200)}</code>
            ) : null}
          </li>
        ))}
      </ul>
    </div>
  )
}
