import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api, ok } from '../../api/client.ts'
import type { Channel } from '../../api/queries.ts'
import { explain } from '../../shared/errors.tsx'
import { Form, FormError, Submit } from '../../ui/form.tsx'
import { useLanguage, useText } from '../../ui/language.ts'
import { BackToList } from '../../ui/lists/panes.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWords } from '../../ui/words.tsx'
import { PushError, subscribe } from './browser-push.ts'
import {
  bodyOf,
  KindHelp,
  MessageFields,
  NameFields,
  ReceiverFields,
  useDraft,
} from './channel-fields.tsx'
import { channelsText } from './channels.text.ts'
import { kindsText } from './kinds.text.ts'
import { isKind, KIND_NAMES, KINDS, type KindName, LINKS } from './kinds.ts'
import { SecretDialog } from './secret-dialog.tsx'

/** A new channel: first its kind, then its form. The kind stands in the address. */
export function NewChannel({ kind }: { kind: string | undefined }) {
  return isKind(kind) ? <ChannelForm key={kind} kind={kind} /> : <KindChoice />
}

function KindChoice() {
  const text = useText(channelsText)
  const kinds = useText(kindsText)
  return (
    <div className="mx-auto flex max-w-3xl flex-col gap-4 p-4 md:p-6">
      <header className="flex items-center gap-2">
        <BackToList href="/channels" />
        <h2 className="text-xl">{text.choose_kind}</h2>
      </header>
      <ul className="grid gap-2 sm:grid-cols-2 xl:grid-cols-3">
        {KIND_NAMES.map((kind) => {
          const { icon: Icon } = KINDS[kind]
          return (
            <li key={kind}>
              <Link
                href={`/channels/new/${kind}`}
                className="flex h-full items-start gap-3 rounded-panel border border-line bg-surface p-3 hover:border-line-strong hover:bg-hover"
              >
                <Icon
                  size={20}
                  strokeWidth={1.75}
                  className="mt-0.5 shrink-0 text-muted"
                  aria-hidden
                />
                <span className="min-w-0">
                  <span className="block font-medium">{kinds.names[kind]}</span>
                  <span className="block text-sm text-muted">{kinds.what[kind]}</span>
                </span>
              </Link>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function ChannelForm({ kind }: { kind: KindName }) {
  const text = useText(channelsText)
  const kinds = useText(kindsText)
  const words = useWords()
  const _language = useLanguage()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const [draft, change] = useDraft(kind)
  const [made, setMade] = useState<Channel>()
  const isPush = kind === 'webpush'

  async function create(): Promise<void> {
    const body = bodyOf(kind, draft, null)
    const receiver = isPush ? await subscribe(text) : {}
    const label = body.label ?? (isPush ? text.this_browser : null)
    const { channel } = await ok(
      api.POST('/api/v1/channels', { body: { kind, ...body, ...receiver, label } }),
    )
    await queryClient.invalidateQueries({ queryKey: ['channels', 'list'] })
    // The secret is shown before anything else: it cannot be shown later.
    if (channel.signing_secret) setMade(channel)
    else finish(channel)
  }
  function finish(channel: Channel): void {
    toast(text.created(channel.label ?? kinds.names[kind]))
    navigate(`/channels/${channel.id}`)
  }
  return (
    <Form
      className="mx-auto flex max-w-xl flex-col gap-4 p-4 md:p-6"
      explain={(error, names) =>
        error instanceof PushError
          ? { fields: {}, whole: error.message }
          : explain(error, names, words)
      }
      onSubmit={create}
    >
      <header className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-xl">{text.new_title(kinds.names[kind])}</h2>
        <Link href="/channels/new" className="text-accent-text hover:underline">
          {text.other_kind}
        </Link>
      </header>
      <KindHelp kind={kind} link={LINKS[kind]} />
      {isPush ? null : <ReceiverFields kind={kind} draft={draft} change={change} />}
      <NameFields kind={kind} draft={draft} change={change} />
      <MessageFields draft={draft} change={change} />
      <FormError />
      <Submit className="self-start">{isPush ? text.allow : text.add}</Submit>
      {made ? (
        <SecretDialog secret={made.signing_secret ?? ''} onKept={() => finish(made)} />
      ) : null}
    </Form>
  )
}
