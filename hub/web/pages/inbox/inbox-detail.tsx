import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowLeft, Check, Paperclip } from 'lucide-react'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button, buttonClass, IconButton } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { api, ok } from '../../api/client.ts'
import { AnswerForm } from './answer-form.tsx'
import { Decisions } from './decisions.tsx'
import { inboxText } from './inbox.text.ts'
import { type InboxDetail, inboxMailQuery, type ThreadMail } from './queries.ts'

type Props = { id: string; isReadOnly: boolean; onBack: () => void; onHandle: () => void }

/** A mail with its conversation, what is to decide about it, and the answer. */
export function InboxDetailView({ id, isReadOnly, onBack, onHandle }: Props) {
  const text = useText(inboxText)
  const query = useQuery(inboxMailQuery(id))
  const queryClient = useQueryClient()
  const isNew = query.data?.mail.seen_at === null
  useEffect(() => {
    if (!isNew || isReadOnly) return
    ok(api.POST('/api/cockpit/inbox/mark', { body: { id, seen: true } })).then(
      () => queryClient.invalidateQueries({ queryKey: ['inbox'] }),
      // It stays new, and is marked when it is opened again.
      () => {},
    )
  }, [id, isNew, isReadOnly, queryClient])
  return (
    <article
      aria-label={query.data?.mail.subject ?? text.conversation}
      className="flex min-h-0 min-w-0 flex-1 flex-col overflow-y-auto"
    >
      {query.isPending ? (
        <SkeletonRows rows={8} />
      ) : hasFailed(query) ? (
        <>
          <Button variant="ghost" className="m-2 self-start" onClick={onBack}>
            {text.back}
          </Button>
          <FailedQuery error={query.error} onRetry={() => query.refetch()} />
        </>
      ) : (
        <Whole detail={query.data} isReadOnly={isReadOnly} onBack={onBack} onHandle={onHandle} />
      )}
    </article>
  )
}

function Whole({
  detail,
  isReadOnly,
  onBack,
  onHandle,
}: Omit<Props, 'id'> & { detail: InboxDetail }) {
  const text = useText(inboxText)
  const { mail, thread, left_out } = detail
  const note = mail.kind === 'bounce' ? '' : text.matched[mail.matched_by]
  return (
    <>
      <header className="flex items-start gap-2 border-b border-line px-4 py-3 md:px-6">
        <IconButton label={text.back} className="-ml-2 md:hidden" onClick={onBack}>
          <ArrowLeft size={16} aria-hidden />
        </IconButton>
        <div className="min-w-0 flex-1">
          <h2 className="font-mail text-xl break-words">{mail.subject}</h2>
          <p className="text-sm text-muted break-words">
            {mail.from_name ?? ''} {mail.from_email ? `<${mail.from_email}>` : ''}
          </p>
          {note ? <p className="mt-1 text-sm text-muted">{note}</p> : null}
        </div>
        {mail.lead ? (
          <Link
            href={`/p/${mail.project}/leads?lead=${mail.lead.id}`}
            className={cn(buttonClass({ size: 'sm' }), 'max-md:hidden')}
          >
            {text.lead}
          </Link>
        ) : null}
        <Button
          size="sm"
          disabled={isReadOnly}
          title={text.handle_key}
          icon={<Check size={14} aria-hidden />}
          onClick={onHandle}
        >
          {mail.handled_at ? text.reopen : text.handle}
        </Button>
      </header>
      <Decisions mail={mail} isReadOnly={isReadOnly} />
      {left_out > 0 ? (
        <p className="px-4 pt-4 text-sm text-muted md:px-6">{text.left_out(left_out)}</p>
      ) : null}
      <ol aria-label={text.conversation} className="flex flex-col gap-3 px-4 py-4 md:px-6">
        {thread.map((one) => (
          <ThreadEntry key={`${one.kind}${one.id}`} mail={one} isOpen={one.id === mail.id} />
        ))}
      </ol>
      {mail.is_cut ? <p className="px-4 pb-4 text-sm text-warn md:px-6">{text.cut}</p> : null}
      <AnswerForm key={mail.id} detail={detail} isReadOnly={isReadOnly} />
    </>
  )
}

/** One mail of the conversation. Its text comes from strangers and is shown as it is, never as HTML. */
function ThreadEntry({ mail, isOpen }: { mail: ThreadMail; isOpen: boolean }) {
  const text = useText(inboxText)
  const isOurs = mail.from === 'us'
  const state = mail.state as keyof typeof text.states | null // safe: a look-up that may find nothing
  return (
    <li
      aria-current={isOpen ? 'true' : undefined}
      className={cn(
        'max-w-2xl min-w-0 rounded-panel border p-3 md:p-4',
        isOurs ? 'ml-4 bg-ink md:ml-10' : 'bg-surface',
        isOpen ? 'border-accent' : 'border-line',
      )}
    >
      <p className="flex items-baseline gap-2 text-sm text-muted">
        <span className="min-w-0 flex-1 truncate font-medium text-fg">
          {isOurs ? text.you : (mail.name ?? mail.email ?? text.nobody)}
        </span>
        {state && text.states[state] ? (
          <Badge tone={state === 'failed' || state === 'unclear' ? 'bad' : 'plain'}>
            {text.states[state]}
          </Badge>
        ) : null}
        <Time at={mail.at} className="shrink-0 text-xs" />
      </p>
      {mail.reason ? <p className="mt-1 text-sm text-bad break-words">{mail.reason}</p> : null}
      <p className="mt-2 font-mail leading-relaxed break-words whitespace-pre-wrap">
        {mail.text ?? (mail.kind === 'unrelated' ? text.not_read : text.no_text)}
      </p>
      {mail.quoted ? (
        <details className="mt-2 text-sm text-muted">
          <summary className="w-fit rounded-control hover:text-fg">{text.quoted}</summary>
          <p className="mt-2 break-words whitespace-pre-wrap">{mail.quoted}</p>
        </details>
      ) : null}
      {mail.attachments.length > 0 ? (
        <div className="mt-3 text-sm text-muted">
          <p className="text-xs">{text.attachments}</p>
          <ul>
            {mail.attachments.map(({ name, type, bytes }, at) => (
              <li key={`${at}${name}`} className="flex items-center gap-1.5 break-all">
                <Paperclip size={12} aria-hidden className="shrink-0" />
                {name} · {type} · {Math.ceil(bytes / 1024)} KB
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </li>
  )
}
