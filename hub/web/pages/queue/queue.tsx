import { useQuery } from '@tanstack/react-query'
import { CheckCheck } from 'lucide-react'
import { useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { Choice } from '../../../../web/ui/field.tsx'
import { useKeys } from '../../../../web/ui/keys.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Empty, SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { ApprovalItem } from './approval-item.tsx'
import { DraftItem } from './draft-item.tsx'
import { type QueueItem, queueQuery } from './queries.ts'
import { queueText } from './queue.text.ts'
import { SequenceItem } from './sequence-item.tsx'

/** All that waits for a yes, one after the other. */
export function Queue() {
  const text = useText(queueText)
  const { slug, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const [search, setSearch] = useSearchParams()
  const isAll = search.get('of') === 'all'
  const query = useQuery(queueQuery(isAll ? null : slug))
  const items = query.data?.items ?? []
  const total = Math.max(query.data?.total ?? 0, items.length)
  const asked = search.get('item')
  // Without a chosen one the first is open, except on a phone, which shows the list first.
  const [first, setFirst] = useState<string>()
  if (!asked && !first && items[0]) setFirst(items[0].id)
  const open = asked ?? first
  const at = items.findIndex(({ id }) => id === open)
  // One that was decided elsewhere gives its place to no other: a key would decide what nobody has read.
  const item = items[at]
  const list = useRef<HTMLDivElement>(null)
  const change = (name: 'item' | 'of', value: string | null) => {
    setFirst(undefined)
    setSearch(
      (before) => {
        const after = new URLSearchParams(before)
        after.delete('item')
        if (value) after.set(name, value)
        else after.delete(name)
        return after
      },
      { replace: true },
    )
  }
  const go = (next: QueueItem | undefined) => {
    change('item', next?.id ?? null)
    if (next) list.current?.querySelector<HTMLElement>(`[data-item="${next.id}"]`)?.focus()
  }
  const step = (by: number) => go(items[Math.max(0, Math.min(items.length - 1, at + by))])
  useKeys({
    j: items.length > 0 ? () => step(1) : undefined,
    k: items.length > 0 ? () => step(-1) : undefined,
    Escape: asked ? () => change('item', null) : undefined,
  })
  const props = {
    isReadOnly,
    onBack: () => change('item', null),
    // What was decided leaves the list; its place is taken by the next one.
    onDone: () => go(items[at + 1] ?? items[at - 1]),
  }
  return (
    <Page
      title={text.title}
      detail={item ? text.position(at + 1, total) : undefined}
      actions={
        <Choice
          className="text-muted"
          label={text.all_projects}
          isOn={isAll}
          onChange={(isOn) => change('of', isOn ? 'all' : null)}
        />
      }
    >
      {query.isPending ? (
        <SkeletonRows rows={10} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : items.length === 0 ? (
        <Empty
          picture={<CheckCheck size={24} strokeWidth={1.5} aria-hidden />}
          title={text.empty.title}
          text={text.empty.text}
        />
      ) : (
        <div className="flex h-full min-h-0">
          <div
            ref={list}
            className={cn(
              'min-h-0 w-full shrink-0 overflow-y-auto border-line md:w-80 md:border-r',
              asked && 'max-md:hidden',
            )}
          >
            <ul aria-label={text.list}>
              {items.map((one) => (
                <Row key={one.id} item={one} isOpen={one === item} onOpen={() => go(one)} />
              ))}
            </ul>
          </div>
          {item ? null : (
            <Empty
              className={cn('flex-1', !asked && 'max-md:hidden')}
              picture={<CheckCheck size={24} strokeWidth={1.5} aria-hidden />}
              title={text.gone.title}
              text={text.gone.text}
              action={<Button onClick={() => go(items[0])}>{text.gone.action}</Button>}
            />
          )}
          {item ? (
            <article
              aria-label={item.title}
              className={cn('min-h-0 min-w-0 flex-1 overflow-y-auto', !asked && 'max-md:hidden')}
            >
              <p aria-live="polite" className="px-4 pt-3 text-sm text-muted md:px-6">
                <span className="md:sr-only">{text.position(at + 1, total)}</span>
                {isReadOnly ? null : <span className="max-md:hidden">{text.keys}</span>}
              </p>
              {item.kind === 'draft' ? (
                <DraftItem key={item.id} item={item} {...props} />
              ) : item.kind === 'sequence' ? (
                <SequenceItem key={item.id} item={item} {...props} />
              ) : (
                <ApprovalItem key={item.id} item={item} {...props} />
              )}
            </article>
          ) : null}
        </div>
      )}
    </Page>
  )
}

function Row({ item, isOpen, onOpen }: { item: QueueItem; isOpen: boolean; onOpen: () => void }) {
  const text = useText(queueText)
  return (
    <li className="border-b border-line">
      <button
        type="button"
        data-item={item.id}
        aria-current={isOpen ? 'true' : undefined}
        onClick={onOpen}
        className={cn(
          'flex w-full flex-col gap-1 px-4 py-3 text-left -outline-offset-2 md:px-5',
          isOpen ? 'bg-surface md:shadow-[inset_2px_0_0_var(--accent)]' : 'hover:bg-hover',
        )}
      >
        <span className="flex w-full items-baseline gap-3">
          <span className="min-w-0 flex-1 truncate font-medium">{item.title}</span>
          <Time at={item.waiting_since} className="shrink-0 text-xs text-muted" />
        </span>
        <span className="flex w-full items-center gap-2 text-sm text-muted">
          <span className="min-w-0 flex-1 truncate">{item.who ?? text.kinds[item.kind]}</span>
          {item.batch ? <Badge>{text.alike(item.batch.size)}</Badge> : null}
        </span>
      </button>
    </li>
  )
}
