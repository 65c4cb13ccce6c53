import { CalendarCheck } from 'lucide-react'
import type { KeyboardEvent, PointerEvent } from 'react'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { localeOf, number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Time } from '../../../../web/ui/time.tsx'
import { useWords } from '../../../../web/ui/words.tsx'
import { dealText } from '../leads/deal.text.ts'
import { leadsText } from '../leads/leads.text.ts'
import { money } from '../leads/money.ts'
import { type Lead, nameOf } from '../leads/queries.ts'
import { type Stage, StageMark } from '../leads/stage.tsx'
import type { Held } from './board.ts'
import { salesText } from './sales.text.ts'

type Props = {
  stage: Stage
  leads: Lead[]
  count: number
  /** How many there are could not be had: there may be more. */
  isAtLeast: boolean
  sums: { currency: string; amount: number; weighted: number | null }[]
  held: Held | undefined
  open: string | null
  hasMore: boolean
  onMore: () => void
  onOpen: (id: string) => void
  onKey: (event: KeyboardEvent, id: string, stage: Stage) => void
  onGrab: (event: PointerEvent, id: string) => void
}

/** One stage and its leads. */
export function BoardColumn({
  stage,
  leads,
  count,
  isAtLeast,
  sums,
  held,
  open,
  hasMore,
  onMore,
  ...rest
}: Props) {
  const text = useText(salesText)
  const words = useWords()
  const { stages } = useText(leadsText)
  const language = useLanguage()
  const isOver = held?.over === stage && held.from !== stage
  return (
    <div
      data-stage={stage}
      className={cn(
        'flex w-[82vw] max-w-80 shrink-0 snap-center flex-col rounded-panel border transition-colors md:w-68',
        isOver ? 'border-line-strong bg-hover' : 'border-transparent bg-surface',
      )}
    >
      <h2
        aria-label={text.column(stages[stage], count)}
        className="flex h-10 shrink-0 items-center gap-2 px-3 font-medium"
      >
        <StageMark stage={stage} />
        <span className="truncate">{stages[stage]}</span>
        <span className="text-muted" data-numbers>
          {number(language, count)}
          {isAtLeast ? '+' : ''}
        </span>
      </h2>
      {sums.length > 0 ? <Sums sums={sums} /> : null}
      <div className="relative min-h-24 flex-1 overflow-y-auto px-2 pt-1 pb-2">
        {leads.length === 0 ? (
          <p className="px-1 py-6 text-center text-sm text-muted">{text.nobody}</p>
        ) : (
          <ul className="flex flex-col gap-2">
            {leads.map((lead) => (
              <li key={lead.id}>
                <Card
                  lead={lead}
                  stage={stage}
                  isHeld={held?.id === lead.id}
                  isOpen={open === lead.id}
                  {...rest}
                />
              </li>
            ))}
          </ul>
        )}
        {hasMore ? (
          <Button variant="ghost" className="mt-2 w-full" onClick={onMore}>
            {words.more}
          </Button>
        ) : null}
      </div>
    </div>
  )
}

/** The sums of a stage, one for each currency: they are never added. */
function Sums({ sums }: Pick<Props, 'sums'>) {
  const text = useText(dealText)
  const locale = localeOf(useLanguage())
  return (
    <ul aria-label={text.sums} className="px-3 pb-1 text-sm" data-numbers>
      {sums.map(({ currency, amount, weighted }) => (
        <li key={currency} className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{money(locale, amount, currency)}</span>
          {weighted === null ? null : (
            <span className="text-xs text-muted">
              {text.weighted(money(locale, weighted, currency))}
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

type CardProps = Pick<Props, 'onOpen' | 'onKey' | 'onGrab'> & {
  lead: Lead
  stage: Stage
  isHeld: boolean
  isOpen: boolean
}

function Card({ lead, stage, isHeld, isOpen, onOpen, onKey, onGrab }: CardProps) {
  const text = useText(salesText)
  const { unnamed } = useText(leadsText)
  const locale = localeOf(useLanguage())
  const second = lead.name ? lead.company : lead.email
  return (
    <button
      type="button"
      data-card={lead.id}
      aria-pressed={isHeld}
      aria-keyshortcuts="Space"
      aria-describedby="board-hint"
      onClick={() => onOpen(lead.id)}
      onKeyDown={(event) => onKey(event, lead.id, stage)}
      onPointerDown={(event) => onGrab(event, lead.id)}
      onContextMenu={(event) => event.preventDefault()}
      className={cn(
        'flex w-full cursor-grab flex-col gap-1 rounded-control border bg-raised px-3 py-2.5 text-left transition-colors select-none hover:border-line-strong',
        isHeld ? 'border-dashed border-line-strong opacity-60' : 'border-line',
        isOpen && 'border-accent',
      )}
    >
      <span className="w-full truncate font-medium">{nameOf(lead) || unnamed}</span>
      {second ? <span className="w-full truncate text-sm text-muted">{second}</span> : null}
      <span className="mt-1 flex w-full items-center gap-3 text-xs text-muted" data-numbers>
        <Time at={lead.updated_at} />
        {lead.open_tasks > 0 ? (
          <span className="flex items-center gap-1">
            <CalendarCheck size={12} aria-hidden />
            <span className="sr-only">{text.open_tasks(lead.open_tasks)}</span>
            <span aria-hidden>{lead.open_tasks}</span>
          </span>
        ) : null}
        {lead.amount !== null && lead.currency ? (
          <span className="ml-auto font-medium text-fg">
            {money(locale, lead.amount, lead.currency)}
          </span>
        ) : lead.score === null ? null : (
          <span className="ml-auto">{lead.score}</span>
        )}
      </span>
    </button>
  )
}
