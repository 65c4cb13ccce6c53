import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Columns3, Plus } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { useKeys } from '../../../../web/ui/keys.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Empty, SkeletonRows } from '../../../../web/ui/states.tsx'
import { useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { kpiQuery } from '../kpi.ts'
import { dealSumsQuery } from '../leads/deal-queries.ts'
import { LeadPanel } from '../leads/lead-panel.tsx'
import { leadsText } from '../leads/leads.text.ts'
import { leadsQuery, nameOf, useChangeLead } from '../leads/queries.ts'
import { QuickAdd } from '../leads/quick-add.tsx'
import { STAGES, type Stage } from '../leads/stage.tsx'
import { columnsOf, type Held, moveOf } from './board.ts'
import { BoardColumn } from './column.tsx'
import { useDrag } from './drag.ts'
import { salesText } from './sales.text.ts'

/** The stages side by side: leads are moved by dragging or by keys. */
export function Sales() {
  const text = useText(salesText)
  const leadsWords = useText(leadsText)
  const project = useProject()
  const isReadOnly = useIsReadOnly() || project.read_only
  const lists = useStageLists(project.slug)
  const kpi = useQuery(kpiQuery(project.slug))
  const sums = useQuery(dealSumsQuery(project.slug)).data
  const [search, setSearch] = useSearchParams()
  const open = search.get('lead')
  const [isAdding, setAdding] = useState(false)
  const [held, setHeld] = useState<Held>()
  // Until the hub has answered, a card stays where it was put and does not jump back.
  const [placed, setPlaced] = useState<Record<string, Stage>>({})
  const [said, setSaid] = useState('')
  const change = useChangeLead()
  const board = useRef<HTMLElement>(null)

  const all = STAGES.flatMap(
    (stage) => lists[stage].data?.pages.flatMap((page) => page.leads) ?? [],
  )
  const columns = columnsOf(all, held ? { ...placed, [held.id]: held.over } : placed)
  const leadOf = (id: string) => all.find((lead) => lead.id === id)
  const setOpen = (id: string | null) => setSearch(id ? { lead: id } : {}, { replace: true })

  const put = (id: string, from: Stage, to: Stage) => {
    const lead = leadOf(id)
    if (!lead || from === to) return
    setPlaced((before) => ({ ...before, [id]: to }))
    change
      .mutateAsync({ id, stage: to })
      .catch(() => undefined)
      .finally(() => setPlaced(({ [id]: _, ...others }) => others))
    setSaid(text.put(nameOf(lead), leadsWords.stages[to]))
    // The panel asks why, while it is fresh in mind.
    if (to === 'won' || to === 'lost') setOpen(id)
  }
  const drag = useDrag({
    isEnabled: !isReadOnly,
    onOver: (id, over) => {
      const lead = leadOf(id)
      if (lead) setHeld({ id, from: lead.stage, over: over ?? lead.stage })
    },
    onEnd: (id, over) => {
      const lead = leadOf(id)
      setHeld(undefined)
      if (lead && over) put(id, lead.stage, over)
    },
  })
  // A card that moves to another column is a new element, perhaps twice until the hub has answered.
  // Each time it needs the focus again, unless the user has moved it elsewhere.
  const focus = useRef<string>(undefined)
  useEffect(() => {
    const id = focus.current
    if (!id) return
    const card = board.current?.querySelector<HTMLElement>(`[data-card="${id}"]`)
    const active = document.activeElement
    if (active === card) return
    if (active && active !== document.body) {
      focus.current = undefined
      return
    }
    card?.focus({ preventScroll: true })
    card?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })
  useEffect(() => {
    const forget = () => {
      focus.current = undefined
    }
    addEventListener('pointerdown', forget)
    return () => removeEventListener('pointerdown', forget)
  }, [])
  // The panel takes space: scroll its card back into view.
  useEffect(() => {
    if (!open) return
    const timer = setTimeout(() => {
      const card = board.current?.querySelector(`[data-card="${CSS.escape(open)}"]`)
      card?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    }, 200)
    return () => clearTimeout(timer)
  }, [open])
  const onKey = (event: KeyboardEvent, id: string, stage: Stage) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return
    const move = moveOf(event.key, { id, stage, columns, held: held?.id === id ? held : undefined })
    const lead = leadOf(id)
    if (!move || !lead || (isReadOnly && move.kind !== 'focus')) return
    event.preventDefault()
    event.stopPropagation()
    focus.current = move.kind === 'focus' ? move.id : id
    if (move.kind === 'focus') {
      board.current?.querySelector<HTMLElement>(`[data-card="${move.id}"]`)?.focus()
    } else if (move.kind === 'put') {
      setHeld(undefined)
      if (held) put(id, held.from, held.over)
    } else if (move.kind === 'put_back') {
      setHeld(undefined)
      setSaid(text.put_back(nameOf(lead)))
    } else {
      setHeld(move.held)
      setSaid(text.held(nameOf(lead), leadsWords.stages[move.held.over]))
    }
  }
  const first = () => board.current?.querySelector<HTMLElement>('[data-card]')?.focus()
  useKeys({
    j: first,
    c: isReadOnly ? undefined : () => setAdding(true),
    Escape: open ? () => setOpen(null) : undefined,
  })

  const states = STAGES.map((stage) => lists[stage])
  const failed = states.find(hasFailed)
  return (
    <Page
      title={text.title}
      hasPanel={open !== null}
      actions={
        <Button
          variant="primary"
          disabled={isReadOnly}
          onClick={() => setAdding(true)}
          icon={<Plus size={16} aria-hidden />}
        >
          {leadsWords.add}
        </Button>
      }
    >
      {failed ? (
        <FailedQuery error={failed.error} onRetry={() => failed.refetch()} />
      ) : states.some(({ isPending }) => isPending) ? (
        <SkeletonRows />
      ) : all.length === 0 ? (
        <Empty
          picture={<Columns3 size={24} strokeWidth={1.5} aria-hidden />}
          title={text.empty.title}
          text={text.empty.text}
          action={
            <Button disabled={isReadOnly} onClick={() => setAdding(true)}>
              {leadsWords.add}
            </Button>
          }
        />
      ) : (
        <section
          ref={board}
          aria-label={text.board}
          className="relative flex h-full min-w-full snap-x snap-mandatory gap-3 overflow-x-auto p-4 md:snap-none md:px-6"
        >
          {STAGES.map((stage) => (
            <BoardColumn
              key={stage}
              stage={stage}
              leads={columns[stage]}
              count={Math.max(columns[stage].length, kpi.data?.leads.by_stage[stage] ?? 0)}
              isAtLeast={!kpi.data && lists[stage].hasNextPage}
              sums={sums?.find((one) => one.stage === stage)?.sums ?? []}
              held={held}
              open={open}
              hasMore={lists[stage].hasNextPage}
              onMore={() => lists[stage].fetchNextPage()}
              onOpen={setOpen}
              onKey={onKey}
              onGrab={drag}
            />
          ))}
        </section>
      )}
      <p id="board-hint" className="hidden">
        {text.hint}
      </p>
      <p className="sr-only" aria-live="assertive">
        {said}
      </p>
      <LeadPanel id={open} onClose={() => setOpen(null)} isReadOnly={isReadOnly} />
      <QuickAdd
        isOpen={isAdding}
        onClose={() => setAdding(false)}
        onAdded={(id) => {
          setAdding(false)
          setOpen(id)
        }}
      />
    </Page>
  )
}

function useStageLists(slug: string) {
  return {
    new: useInfiniteQuery(leadsQuery(slug, { stage: 'new' })),
    contacted: useInfiniteQuery(leadsQuery(slug, { stage: 'contacted' })),
    replied: useInfiniteQuery(leadsQuery(slug, { stage: 'replied' })),
    meeting: useInfiniteQuery(leadsQuery(slug, { stage: 'meeting' })),
    proposal: useInfiniteQuery(leadsQuery(slug, { stage: 'proposal' })),
    won: useInfiniteQuery(leadsQuery(slug, { stage: 'won' })),
    lost: useInfiniteQuery(leadsQuery(slug, { stage: 'lost' })),
  }
}
