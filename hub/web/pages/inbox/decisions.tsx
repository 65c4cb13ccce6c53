import type { ReactNode } from 'react'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { day } from '../../../../web/ui/time.tsx'
import { useWords } from '../../../../web/ui/words.tsx'
import { api, ok } from '../../api/client.ts'
import { inboxText } from './inbox.text.ts'
import { type InboxMail, useDecision } from './queries.ts'

/** What a person has to decide about a mail. */
export function Decisions({ mail, isReadOnly }: { mail: InboxMail; isReadOnly: boolean }) {
  const text = useText(inboxText)
  return (
    <div className="flex flex-col gap-3 px-4 pt-4 empty:hidden md:px-6">
      {mail.opt_out === 'open' ? <OptOut mail={mail} isReadOnly={isReadOnly} /> : null}
      {mail.opt_out === 'asked' ? <p className="text-sm text-muted">{text.opt_out.asked}</p> : null}
      {mail.asks_whose ? <Whose mail={mail} isReadOnly={isReadOnly} /> : null}
      {mail.away_until ? <Away mail={mail} isReadOnly={isReadOnly} /> : null}
      {mail.kind === 'bounce' ? null : <Sort mail={mail} isReadOnly={isReadOnly} />}
    </div>
  )
}

type Props = { mail: InboxMail; isReadOnly: boolean }

function Question({
  title,
  why,
  children,
}: {
  title: string
  why: ReactNode
  children: ReactNode
}) {
  return (
    <section aria-label={title} className="max-w-2xl rounded-panel border border-line p-4">
      <h3 className="font-medium break-words">{title}</h3>
      <div className="mt-1 text-sm text-muted">{why}</div>
      <div className="mt-3 flex flex-wrap gap-2">{children}</div>
    </section>
  )
}

function OptOut({ mail, isReadOnly }: Props) {
  const { opt_out: text } = useText(inboxText)
  const decide = useDecision(
    (refuses: boolean) =>
      ok(api.POST('/api/cockpit/inbox/opt_out', { body: { id: mail.id, refuses } })),
    (refuses) => (refuses ? text.stopped : text.goes_on),
  )
  const isOff = isReadOnly || decide.isPending
  return (
    <Question
      title={text.title}
      why={
        <>
          <p>
            {text[mail.opt_out_by ?? 'rules']} {text.why}
          </p>
          {mail.model_quote ? <blockquote className="mt-1">“{mail.model_quote}”</blockquote> : null}
        </>
      }
    >
      <Button size="sm" disabled={isOff} onClick={() => decide.mutate(true)}>
        {text.yes}
      </Button>
      <Button size="sm" disabled={isOff} onClick={() => decide.mutate(false)}>
        {text.no}
      </Button>
    </Question>
  )
}

function Whose({ mail, isReadOnly }: Props) {
  const { whose: text } = useText(inboxText)
  const assign = useDecision(
    (lead_id: string | undefined) =>
      ok(
        api.POST('/api/cockpit/inbox/assign', {
          body: { id: mail.id, ...(lead_id ? { lead_id } : {}) },
        }),
      ),
    () => text.assigned,
  )
  const isOff = isReadOnly || assign.isPending
  const { lead } = mail
  return (
    <Question title={text.title(mail.our_email)} why={<p>{text.why}</p>}>
      {lead ? (
        <Button size="sm" disabled={isOff} onClick={() => assign.mutate(lead.id)}>
          {text.same(lead.name ?? lead.company ?? mail.our_email)}
        </Button>
      ) : null}
      <Button size="sm" disabled={isOff} onClick={() => assign.mutate(undefined)}>
        {text.add}
      </Button>
    </Question>
  )
}

function Away({ mail, isReadOnly }: Props) {
  const { away: text } = useText(inboxText)
  const { locale } = useWords()
  const back = useDecision(
    () => ok(api.POST('/api/cockpit/inbox/back', { body: { id: mail.id } })),
    () => text.done,
  )
  const until = mail.away_until ?? ''
  if (until <= new Date().toISOString().slice(0, 10)) return null
  return (
    <div className="flex flex-wrap items-center gap-3">
      <p className="text-sm text-muted">{text.until(day(until, locale))}</p>
      <Button
        size="sm"
        disabled={isReadOnly || back.isPending}
        onClick={() => back.mutate(undefined)}
      >
        {text.back}
      </Button>
    </div>
  )
}

function Sort({ mail, isReadOnly }: Props) {
  const text = useText(inboxText)
  const sort = useDecision(
    (is_reply: boolean) =>
      ok(api.POST('/api/cockpit/inbox/sort', { body: { id: mail.id, is_reply } })),
    (is_reply) => (is_reply ? text.sorted.reply : text.sorted.unrelated),
  )
  const isReply = mail.kind === 'reply'
  return (
    <div>
      <Button
        size="sm"
        variant="ghost"
        className="-ml-2"
        disabled={isReadOnly || sort.isPending}
        onClick={() => sort.mutate(!isReply)}
      >
        {isReply ? text.no_reply : text.is_reply}
      </Button>
    </div>
  )
}
