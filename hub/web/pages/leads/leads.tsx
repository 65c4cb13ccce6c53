import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Combine, Download, Ellipsis, History, Plus, SearchX, Upload, UserPlus } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button, IconButton } from '../../../../web/ui/button.tsx'
import { useKeys } from '../../../../web/ui/keys.ts'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { Menu } from '../../../../web/ui/menu.tsx'
import { Empty, SkeletonRows } from '../../../../web/ui/states.tsx'
import { useReadOnly } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { fieldsQuery } from './deal-queries.ts'
import { useLeadAddress } from './filter.ts'
import { FilterBar } from './filter-bar.tsx'
import { ImportDialog } from './import/import-dialog.tsx'
import { LeadPanel } from './lead-panel.tsx'
import { LeadTable } from './lead-table.tsx'
import { leadsText } from './leads.text.ts'
import { mergeText } from './merge/merge.text.ts'
import { leadsQuery } from './queries.ts'
import { QuickAdd } from './quick-add.tsx'

/** How many fields of the project's own have a column in the table. */
const OWN_COLUMNS = 2

/** All leads of the project: search, bulk changes, adding, import and export. */
export function Leads() {
  const text = useText(leadsText)
  const merges = useText(mergeText)
  const [, navigate] = useLocation()
  const words = useText(common)
  const language = useLanguage()
  const project = useProject()
  const why = useReadOnly()
  const isReadOnly = why !== undefined || project.read_only
  const { filter, open, doing, running, set } = useLeadAddress()
  const query = useInfiniteQuery(leadsQuery(project.slug, filter))
  const leads = query.data?.pages.flatMap((page) => page.leads) ?? []
  const fields = useQuery(fieldsQuery(project.slug)).data
  // The column of the filtered field first: why these leads are here is seen at once.
  const own = useMemo(
    () =>
      (fields ?? [])
        .toSorted((a, b) => Number(b.key === filter.field) - Number(a.key === filter.field))
        .slice(0, OWN_COLUMNS),
    [fields, filter.field],
  )
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const chosen = leads.filter(({ id }) => selected.has(id)).map(({ id }) => id)
  const list = useRef<HTMLDivElement>(null)
  const isFiltered = Object.keys(filter).length > 0

  const toggle = (id: string) =>
    setSelected((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  const step = (by: number) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-lead]') ?? [])]
    const at = rows.findIndex((row) => row === document.activeElement || row.dataset.lead === open)
    const row = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
    row?.focus()
    if (open && row?.dataset.lead) set({ lead: row.dataset.lead })
  }
  const focused = () =>
    document.activeElement instanceof HTMLElement ? document.activeElement.dataset.lead : undefined
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    x: () => {
      const id = focused()
      if (id) toggle(id)
    },
    c: isReadOnly ? undefined : () => set({ do: 'add' }),
    i: isReadOnly ? undefined : () => set({ do: 'import' }),
    Escape: open
      ? () => set({ lead: null })
      : chosen.length > 0
        ? () => setSelected(new Set())
        : undefined,
  })

  const detail = query.isPending
    ? null
    : isFiltered
      ? text.loaded(leads.length, query.hasNextPage)
      : number(language, Math.max(project.leads, leads.length))
  const exported = `/api/cockpit/leads/export?${new URLSearchParams({ project: project.slug, ...filter })}`
  return (
    <Page
      title={text.title}
      hasPanel={open !== null}
      detail={detail}
      actions={
        <>
          <Menu
            align="end"
            trigger={
              <IconButton label={words.more_actions}>
                <Ellipsis size={16} aria-hidden />
              </IconButton>
            }
            items={[
              {
                label: text.import,
                icon: <Upload size={16} aria-hidden />,
                hint: 'i',
                isDisabled: isReadOnly,
                onSelect: () => set({ do: 'import' }),
              },
              {
                label: text.export,
                icon: <Download size={16} aria-hidden />,
                // With a read-only key a seller can still take the list along; a reader cannot.
                isDisabled: why === 'role',
                onSelect: () => location.assign(exported),
              },
              { kind: 'line' },
              {
                label: merges.menu,
                icon: <Combine size={16} aria-hidden />,
                onSelect: () => navigate(`/p/${project.slug}/leads/duplicates`),
              },
              {
                label: merges.imports.menu,
                icon: <History size={16} aria-hidden />,
                onSelect: () => navigate(`/p/${project.slug}/leads/imports`),
              },
            ]}
          />
          <Button
            variant="primary"
            disabled={isReadOnly}
            onClick={() => set({ do: 'add' })}
            icon={<Plus size={16} aria-hidden />}
          >
            {text.add}
          </Button>
        </>
      }
      bar={<FilterBar filter={filter} onChange={set} />}
    >
      <div ref={list} className="pb-24">
        {query.isPending ? (
          <SkeletonRows rows={12} />
        ) : hasFailed(query) ? (
          <FailedQuery error={query.error} onRetry={() => query.refetch()} />
        ) : leads.length > 0 ? (
          <>
            <LeadTable
              leads={leads}
              open={open}
              selected={selected}
              onOpen={(lead) => set({ lead })}
              onToggle={toggle}
              onToggleAll={() =>
                setSelected(chosen.length > 0 ? new Set() : new Set(leads.map(({ id }) => id)))
              }
              onTag={(tag) => set({ tag })}
              own={own}
            />
            <MoreInView query={query} />
          </>
        ) : isFiltered ? (
          <Empty
            picture={<SearchX size={24} strokeWidth={1.5} aria-hidden />}
            title={text.nothing.title}
            text={text.nothing.text}
            action={
              <Button
                onClick={() => set({ stage: null, tag: null, q: null, field: null, value: null })}
              >
                {text.nothing.action}
              </Button>
            }
          />
        ) : (
          <Empty
            picture={<UserPlus size={24} strokeWidth={1.5} aria-hidden />}
            title={text.empty.title}
            text={text.empty.text}
            action={
              <>
                <Button
                  variant="primary"
                  disabled={isReadOnly}
                  onClick={() => set({ do: 'import' })}
                >
                  {text.import}
                </Button>
                <Button disabled={isReadOnly} onClick={() => set({ do: 'add' })}>
                  {text.add}
                </Button>
              </>
            }
          />
        )}
      </div>
      <BulkBar
        ids={chosen}
        filter={chosen.length === leads.length && query.hasNextPage ? filter : undefined}
        onDone={() => setSelected(new Set())}
        isReadOnly={isReadOnly}
      />
      <LeadPanel
        id={open}
        onClose={() => set({ lead: null })}
        onStep={step}
        isReadOnly={isReadOnly}
      />
      <QuickAdd
        isOpen={doing === 'add'}
        onClose={() => set({ do: null })}
        onAdded={(lead) => set({ do: null, lead })}
      />
      <ImportDialog
        isOpen={doing === 'import'}
        running={running}
        onRunning={(id) => set({ import: id })}
        onClose={() => set({ do: null, import: null })}
      />
    </Page>
  )
}

/** Loads the next page when it comes into view; the button is for people who do not scroll. */
function MoreInView({ query }: Parameters<typeof More>[0]) {
  const ref = useRef<HTMLDivElement>(null)
  const more = useRef(query.fetchNextPage)
  more.current = query.fetchNextPage
  const isWaiting = query.hasNextPage && !query.isFetchingNextPage
  useEffect(() => {
    const node = ref.current
    if (!node || !isWaiting) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) void more.current()
      },
      { rootMargin: '1600px' },
    )
    observer.observe(node)
    return () => observer.disconnect()
  }, [isWaiting])
  return (
    <div ref={ref}>
      <More query={query} />
    </div>
  )
}
