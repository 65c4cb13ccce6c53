import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Mail, MailOpen, PenLine, SearchX } from 'lucide-react'
import { useRef } from 'react'
import { Link } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button, buttonClass } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { useKeys } from '../../../../web/ui/keys.ts'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { Empty, SkeletonRows } from '../../../../web/ui/states.tsx'
import { STATES } from '../../../mail/drafts/flow.ts'
import { useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { kpiQuery } from '../kpi.ts'
import { useDraftAddress } from './address.ts'
import { DraftDetail } from './draft-detail.tsx'
import { DraftList } from './draft-list.tsx'
import { draftsText } from './drafts.text.ts'
import { type DraftState, draftsQuery } from './queries.ts'

/** The drafts, from their text to the sent mail. */
export function Drafts() {
  const text = useText(draftsText)
  const { slug, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const { state, open, set } = useDraftAddress()
  const query = useInfiniteQuery(draftsQuery(slug, state))
  const drafts = query.data?.pages.flatMap((page) => page.drafts) ?? []
  const list = useRef<HTMLDivElement>(null)
  const step = (by: number) => {
    const at = drafts.findIndex(({ id }) => id === open)
    const next = drafts[Math.max(0, Math.min(drafts.length - 1, at + by))]
    if (!next) return
    set({ draft: next.id })
    list.current?.querySelector<HTMLElement>(`[data-draft="${next.id}"]`)?.focus()
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Escape: open ? () => set({ draft: null }) : undefined,
  })
  const write = (
    <Link
      href={`/p/${slug}/missions?do=compose`}
      className={buttonClass({ variant: drafts.length > 0 ? 'secondary' : 'primary' })}
    >
      {text.empty.action}
    </Link>
  )
  return (
    <Page
      title={text.title}
      actions={isReadOnly ? null : write}
      bar={
        <div className={open ? 'max-md:hidden' : undefined}>
          <StateFilter state={state} onChange={(next) => set({ state: next, draft: null })} />
        </div>
      }
    >
      <div className="flex h-full min-h-0">
        <div
          ref={list}
          className={cn(
            'min-h-0 w-full shrink-0 overflow-y-auto border-line md:w-80 md:border-r',
            open && 'max-md:hidden',
            drafts.length === 0 && !query.isPending && !open && 'md:w-full md:border-0',
          )}
        >
          {query.isPending ? (
            <SkeletonRows rows={10} />
          ) : hasFailed(query) ? (
            <FailedQuery error={query.error} onRetry={() => query.refetch()} />
          ) : drafts.length > 0 ? (
            <>
              <DraftList drafts={drafts} open={open} state={state} />
              <More query={query} />
            </>
          ) : state ? (
            <Empty
              picture={<SearchX size={24} strokeWidth={1.5} aria-hidden />}
              title={text.none.title}
              text={text.none.text}
              action={<Button onClick={() => set({ state: null })}>{text.none.action}</Button>}
            />
          ) : (
            <Empty
              picture={<PenLine size={24} strokeWidth={1.5} aria-hidden />}
              title={text.empty.title}
              text={text.empty.text}
              action={isReadOnly ? undefined : write}
            />
          )}
        </div>
        {open ? (
          <DraftDetail key={open} id={open} isReadOnly={isReadOnly} />
        ) : drafts.length > 0 ? (
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

/** The states side by side, with the number of drafts in each. */
function StateFilter({
  state,
  onChange,
}: {
  state: DraftState | undefined
  onChange: (state: DraftState | null) => void
}) {
  const text = useText(draftsText)
  const language = useLanguage()
  const { slug } = useProject()
  const counts = useQuery(kpiQuery(slug)).data?.drafts.by_state
  const shown = STATES.filter((one) => one === state || !counts || counts[one] > 0)
  const options: [DraftState | undefined, string, number | undefined][] = [
    [undefined, text.all, counts && Object.values(counts).reduce((sum, one) => sum + one, 0)],
    ...shown.map((one): [DraftState, string, number | undefined] => [
      one,
      text.states[one],
      counts?.[one],
    ]),
  ]
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot scroll sideways in every browser
    <div
      role="group"
      aria-label={text.filter}
      className="-mx-4 flex gap-1 overflow-x-auto px-4 pb-3 md:-mx-6 md:px-6"
    >
      {options.map(([value, label, count]) => (
        <button
          key={value ?? 'all'}
          type="button"
          aria-pressed={value === state}
          onClick={() => onChange(value ?? null)}
          className={cn(
            'flex h-7 shrink-0 items-center gap-1.5 rounded-full border px-2.5 text-sm pointer-coarse:h-9',
            value === state
              ? 'border-line-strong bg-hover font-medium text-fg'
              : 'border-line text-muted hover:text-fg',
          )}
        >
          {value === undefined ? <Mail size={12} aria-hidden /> : null}
          {label}
          {count ? <span className="text-xs text-muted">{number(language, count)}</span> : null}
        </button>
      ))}
    </div>
  )
}
