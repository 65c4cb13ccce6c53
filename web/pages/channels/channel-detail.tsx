import { useMutation, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Mail, Power, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, ok } from '../../api/client.ts'
import type { Channel, ChannelDelivery } from '../../api/queries.ts'
import { useMayEdit } from '../../api/rights.ts'
import { common } from '../../common.text.ts'
import { AttemptLine } from '../../event/attempt.tsx'
import { failuresText } from '../../event/failures.text.ts'
import { ApiForm, useToastError } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { FormError, Notice, Submit } from '../../ui/form.tsx'
import { useLanguage, useText } from '../../ui/language.ts'
import { FactsLine } from '../../ui/lists/facts-line.tsx'
import { BackToList } from '../../ui/lists/panes.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWords } from '../../ui/words.tsx'
import {
  bodyOf,
  draftOf,
  MessageFields,
  NameFields,
  ReceiverFields,
  useDraft,
} from './channel-fields.tsx'
import { channelsText } from './channels.text.ts'
import { Deliveries } from './deliveries.tsx'
import { kindsText } from './kinds.text.ts'
import { CHANNEL_TONES, type Config, isKind } from './kinds.ts'
import { SecretDialog } from './secret-dialog.tsx'

/** One channel: its state with the reason, what can be done, its settings, and what was sent to it. */
export function ChannelDetail({ channel }: { channel: Channel }) {
  const text = useText(channelsText)
  const kinds = useText(kindsText)
  const mayEdit = useMayEdit()(channel)
  const kind = isKind(channel.kind) ? kinds.names[channel.kind] : channel.kind
  return (
    <article className="mx-auto flex max-w-3xl flex-col gap-6 p-4 md:p-6">
      <header className="flex flex-col gap-2">
        <BackToList href="/channels" className="self-start" />
        <h2 className="text-xl break-words">{channel.label ?? kind}</h2>
        <FactsLine>
          <Badge tone={CHANNEL_TONES[channel.status]}>{text.states[channel.status]}</Badge>
          {kind}
          <code className="break-all text-xs">{channel.target}</code>
        </FactsLine>
        <State channel={channel} />
        {mayEdit ? <Actions channel={channel} /> : <Notice text={text.read_only} />}
      </header>
      {mayEdit ? <Settings channel={channel} /> : null}
      <Deliveries channel={channel} mayEdit={mayEdit} />
    </article>
  )
}

/** Why it does not work, if it does not. */
function State({ channel }: { channel: Channel }) {
  const text = useText(channelsText)
  const failures = useText(failuresText)
  if (channel.status === 'unconfirmed') return <Notice tone="warn" text={text.unconfirmed} />
  if (channel.status === 'disabled') {
    const reason = channel.disabled_reason
    const isOwnDoing = reason === null || reason === 'It was switched off.'
    return <Notice text={isOwnDoing ? text.switched_off : text.disabled(failures.say(reason))} />
  }
  if (channel.status !== 'failing') return null
  return (
    <Notice
      tone="bad"
      text={
        <>
          {text.failing(failures.say(channel.failing_reason ?? ''))}{' '}
          {channel.failing_since ? (
            <span className="text-muted">
              {text.failing_since} <Time at={channel.failing_since} />
            </span>
          ) : null}
        </>
      }
    />
  )
}

function Actions({ channel }: { channel: Channel }) {
  const text = useText(channelsText)
  const words = useWords()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const onError = useToastError()
  const [secret, setSecret] = useState<string>()
  const path = { id: channel.id }
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['channels'] })
  const test = useMutation({
    mutationFn: () => ok(api.POST('/api/v1/channels/{id}/test', { params: { path } })),
    onSuccess: refresh,
    onError,
  })
  const confirm = useMutation({
    mutationFn: () => ok(api.POST('/api/v1/channels/{id}/confirmation', { params: { path } })),
    onSuccess: () => {
      toast(text.mailed)
      void refresh()
    },
    onError,
  })
  const turn = useMutation({
    mutationFn: (enabled: boolean) =>
      ok(api.PATCH('/api/v1/channels/{id}', { params: { path }, body: { enabled } })),
    onSuccess: refresh,
    onError,
  })
  const rotate = useMutation({
    mutationFn: () => ok(api.POST('/api/v1/channels/{id}/rotate-secret', { params: { path } })),
    onSuccess: (answer) => setSecret(answer.channel.signing_secret ?? undefined),
    onError,
  })
  const restore = useMutation({
    mutationFn: () => ok(api.POST('/api/v1/channels/{id}/restore', { params: { path } })),
    onSuccess: refresh,
    onError,
  })
  const remove = useMutation({
    mutationFn: () => ok(api.DELETE('/api/v1/channels/{id}', { params: { path } })),
    onSuccess: () => {
      navigate('/channels')
      void refresh()
      toast(text.deleted(channel.label ?? channel.kind), {
        action: { label: words.undo, onClick: () => restore.mutate() },
      })
    },
    onError,
  })
  return (
    <>
      <div className="flex flex-wrap gap-2">
        {channel.status === 'unconfirmed' ? (
          <Button
            variant="primary"
            isPending={confirm.isPending}
            onClick={() => confirm.mutate()}
            icon={<Mail size={14} aria-hidden />}
          >
            {text.mail_again}
          </Button>
        ) : (
          <Button
            variant="primary"
            isPending={test.isPending}
            onClick={() => test.mutate()}
            icon={<Send size={14} aria-hidden />}
          >
            {text.test}
          </Button>
        )}
        <Button
          isPending={turn.isPending}
          onClick={() => turn.mutate(!channel.enabled)}
          icon={<Power size={14} aria-hidden />}
        >
          {channel.enabled ? text.switch_off : text.switch_on}
        </Button>
        {channel.kind === 'webhook' ? (
          <Button
            isPending={rotate.isPending}
            onClick={() => rotate.mutate()}
            icon={<KeyRound size={14} aria-hidden />}
          >
            {text.rotate}
          </Button>
        ) : null}
        <Button
          variant="ghost"
          isPending={remove.isPending}
          onClick={() => remove.mutate()}
          icon={<Trash2 size={14} aria-hidden />}
        >
          {text.delete}
        </Button>
      </div>
      {test.data ? <TestResult delivery={test.data.delivery} /> : null}
      {secret ? (
        <SecretDialog isRotated secret={secret} onKept={() => setSecret(undefined)} />
      ) : null}
    </>
  )
}

/** What became of the test, with the answer of the receiver. */
function TestResult({ delivery }: { delivery: ChannelDelivery }) {
  const text = useText(channelsText)
  const failures = useText(failuresText)
  const last = delivery.attempt_log.at(-1)
  const isDone = delivery.status === 'succeeded'
  return (
    <section
      role="status"
      className={`flex flex-col gap-2 rounded-panel border p-3 ${isDone ? 'border-good/40' : 'border-bad/50'}`}
    >
      <h3 className={isDone ? 'text-good' : 'text-bad'}>
        {isDone ? text.test_passed : text.test_failed}
      </h3>
      {last ? (
        <AttemptLine attempt={last} />
      ) : (
        <code className="font-sans">{failures.say(delivery.last_error ?? '')}</code>
      )}
    </section>
  )
}

function Settings({ channel }: { channel: Channel }) {
  const text = useText(channelsText)
  const words = useText(common)
  const language = useLanguage()
  const queryClient = useQueryClient()
  const kind = isKind(channel.kind) ? channel.kind : 'webhook'
  /** What the draft was made from: the channel changes with each test and delivery. */
  const [base, setBase] = useState(channel)
  const config = base.config as Config | null // safe: the API answers an object
  const [draft, change] = useDraft(kind, base)
  const made = draftOf(kind, base, language)
  const follow = (later: Channel) => {
    setBase(later)
    change(draftOf(kind, later, language))
  }
  // What somebody is typing stays.
  const isTyped = JSON.stringify(draft) !== JSON.stringify(made)
  if (channel.updated_at !== base.updated_at && !isTyped) follow(channel)

  async function save(): Promise<void> {
    const before = bodyOf(kind, made, config)
    const after = bodyOf(kind, draft, config)
    const names = Object.keys(after) as (keyof typeof after)[] // safe: its own keys
    // Only what changed: another target or config makes the service try the receiver anew.
    const changed = names.filter(
      (name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]),
    )
    const body = Object.fromEntries(changed.map((name) => [name, after[name]]))
    const path = { id: channel.id }
    const saved = await ok(api.PATCH('/api/v1/channels/{id}', { params: { path }, body }))
    follow(saved.channel)
    toast(text.saved)
    void queryClient.invalidateQueries({ queryKey: ['channels'] })
  }
  return (
    <details className="rounded-panel border border-line">
      <summary className="px-4 py-3 font-semibold">{text.settings}</summary>
      <ApiForm className="flex flex-col gap-4 border-t border-line p-4" onSubmit={save}>
        {kind === 'webpush' ? null : <ReceiverFields kind={kind} draft={draft} change={change} />}
        <NameFields kind={kind} draft={draft} change={change} />
        <MessageFields draft={draft} change={change} />
        <FormError />
        <Submit className="self-start">{words.save}</Submit>
      </ApiForm>
    </details>
  )
}
