import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Inbox as InboxIcon, MailOpen } from 'lucide-react'
import { useRef } from 'react'
import { Link } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { buttonClass } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { Choice } from '../../../../web/ui/field.tsx'
import { useKeys } from '../../../../web/ui/keys.ts'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { Empty, SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { api, ok } from '../../api/client.ts'
import { mailQuery, useIsAdmin, useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { inboxText } from './inbox.text.ts'
import { InboxDetailView } from './inbox-detail.tsx'
import {
  type InboxMail,
  inboxQuery,
  SHOWS,
  type Show,
  useDecision,
  useInboxAddress,
} from './queries.ts'

/** Mail that came in: replies, absences, bounces, and what has to be decided. */
export function Inbox() {
  const text = useText(inboxText)
  const { slug, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const isAdmin = useIsAdmin()
  const { show, open, isHandled, isAll, set } = useInboxAddress()
  const query = useInfiniteQuery(inboxQuery({ project: isAll ? null : slug, show, isHandled }))
  const mails = query.data?.pages.flatMap((page) => page.mails) ?? []
  const list = useRef<HTMLDivElement>(null)
  const go = (mail: InboxMail | undefined) => {
    set({ mail: mail?.id ?? null })
    if (mail) list.current?.querySelector<HTMLElement>(`[data-mail="${mail.id}"]`)?.focus()
  }
  const at = mails.findIndex(({ id }) => id === open)
  const step = (by: number) => {
    const next = mails[Math.max(0, Math.min(mails.length - 1, at + by))]
    if (next) go(next)
  }
  const handle = useDecision(
    (mail: InboxMail) =>
      ok(api.POST('/api/cockpit/inbox/mark', { body: { id: mail.id, handled: !isHandled } })),
    () => '',
  )
  const finish = (id: string) => {
    const mail = mails.find((one) => one.id === id)
    if (!mail || isReadOnly) return
    handle.mutate(mail)
    // It leaves the list, so the next one opens by itself.
    go(mails[at + 1] ?? mails[at - 1])
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    e: open ? () => finish(open) : undefined,
    Escape: open ? () => set({ mail: null }) : undefined,
  })
  const hasMailbox = useQuery(mailQuery).data?.mail.imap !== null
  return (
    <Page
      title={text.title}
      bar={
        <div className={cn('flex flex-wrap items-center gap-x-4', open && 'max-md:hidden')}>
          <ShowFilter
            show={show}
            counts={query.data?.pages[0]?.counts}
            onChange={(next) => set({ show: next, mail: null })}
          />
          <div className="ml-auto flex gap-4 pb-3 text-muted">
            <Choice
              label={text.all_projects}
              isOn={isAll}
              onChange={(on) => set({ of: on ? 'all' : null, mail: null })}
            />
            <Choice
              label={text.handled}
              isOn={isHandled}
              onChange={(on) => set({ state: on ? 'handled' : null, mail: null })}
            />
          </div>
        </div>
      }
    >
      <div className="flex h-full min-h-0">
        <div
          ref={list}
          className={cn(
            'min-h-0 w-full shrink-0 overflow-y-auto border-line md:w-80 md:border-r',
            open && 'max-md:hidden',
            mails.length === 0 && !query.isPending && !open && 'md:w-full md:border-0',
          )}
        >
          {query.isPending ? (
            <SkeletonRows rows={10} />
          ) : hasFailed(query) ? (
            <FailedQuery error={query.error} onRetry={() => query.refetch()} />
          ) : mails.length > 0 ? (
            <>
              <ul aria-label={text.list}>
                {mails.map((mail) => (
                  <Row
                    key={mail.id}
                    mail={mail}
                    isOpen={mail.id === open}
                    onOpen={() => go(mail)}
                  />
                ))}
              </ul>
              <More query={query} />
            </>
          ) : (
            <Empty
              picture={<InboxIcon size={24} strokeWidth={1.5} aria-hidden />}
              title={text.empty.title}
              text={text.empty.text}
              action={
                hasMailbox || !isAdmin ? undefined : (
                  <Link href="/settings/mail" className={buttonClass()}>
                    {text.empty.set_up}
                  </Link>
                )
              }
            />
          )}
        </div>
        {open ? (
          <InboxDetailView
            key={open}
            id={open}
            isReadOnly={isReadOnly}
            onBack={() => set({ mail: null })}
            onHandle={() => finish(open)}
          />
        ) : mails.length > 0 ? (
          <div className="flex flex-1 items-center justify-center max-md:hidden">
            <Empty
              picture={<MailOpen size={24} strokeWidth={1.5} aria-hidden />}
              title={text.choose.title}
              text={text.choose.text}
            />
          </div>
        ) : null}
      </div>
    </Page>
  )
}

function ShowFilter({
  show,
  counts,
  onChange,
}: {
  show: Show
  counts: Record<Show, number> | undefined
  onChange: (show: Show) => void
}) {
  const text = useText(inboxText)
  const language = useLanguage()
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot scroll sideways in every browser
    <div
      role="group"
      aria-label={text.filter}
      className="-mx-4 flex min-w-0 gap-1 overflow-x-auto px-4 pb-3 md:-mx-6 md:px-6"
    >
      {SHOWS.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === show}
          onClick={() => onChange(one)}
          className={cn(
            'flex h-7 shrink-0 items-center gap-1.5 rounded-full border px-2.5 text-sm pointer-coarse:h-9',
            one === show
              ? 'border-line-strong bg-hover font-medium text-fg'
              : 'border-line text-muted hover:text-fg',
          )}
        >
          {text.shows[one]}
          {counts?.[one] ? (
            <span className="text-xs text-muted">{number(language, counts[one])}</span>
          ) : null}
        </button>
      ))}
    </div>
  )
}

function Row({ mail, isOpen, onOpen }: { mail: InboxMail; isOpen: boolean; onOpen: () => void }) {
  const text = useText(inboxText)
  const isNew = mail.seen_at === null
  const who = mail.lead?.name ?? mail.from_name ?? mail.from_email ?? text.nobody
  return (
    <li className="border-b border-line">
      <button
        type="button"
        data-mail={mail.id}
        aria-current={isOpen ? 'true' : undefined}
        onClick={onOpen}
        className={cn(
          'flex w-full flex-col gap-1 px-4 py-3 text-left -outline-offset-2 md:px-5',
          isOpen ? 'bg-surface shadow-[inset_2px_0_0_var(--accent)]' : 'hover:bg-hover',
        )}
      >
        <span className="flex w-full items-baseline gap-3">
          <span className={cn('min-w-0 flex-1 truncate', isNew ? 'font-semibold' : 'font-medium')}>
            {mail.kind === 'bounce' ? mail.our_email : who}
          </span>
          {isNew ? <span className="text-xs text-accent-text">{text.unseen}</span> : null}
          <Time at={mail.received_at} className="shrink-0 text-xs text-muted" />
        </span>
        <span className="w-full truncate text-sm">{mail.subject}</span>
        <span className="w-full truncate text-sm text-muted">
          {mail.bounce ? text.bounce[mail.bounce] : (mail.text ?? '')}
        </span>
      </button>
    </li>
  )
}
