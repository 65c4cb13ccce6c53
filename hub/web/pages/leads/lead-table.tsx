import { memo } from 'react'
import { cn } from '../../../../web/ui/class-names.ts'
import { Checkbox } from '../../../../web/ui/field.tsx'
import { localeOf, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Table, Td, Th } from '../../../../web/ui/lists/table.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { dealText } from './deal.text.ts'
import type { OwnField } from './deal-queries.ts'
import { leadsText } from './leads.text.ts'
import { money } from './money.ts'
import { type Lead, nameOf } from './queries.ts'
import { StageMark } from './stage.tsx'

type Props = {
  leads: Lead[]
  open: string | null
  selected: ReadonlySet<string>
  onOpen: (id: string) => void
  onToggle: (id: string) => void
  onToggleAll: () => void
  onTag: (tag: string) => void
  /** The fields of the project's own that have a column. */
  own: OwnField[]
}

/** Depends on the width of the table, not of the window: a panel may be open next to it. */
const WIDE = '@max-4xl:hidden'
const OWN_FROM = '@max-6xl:hidden'
/** The first field of the project's own, and those after it. */
const ownFrom = (at: number) => (at === 0 ? OWN_FROM : '@max-[90rem]:hidden')
/** Whom to write to is never left out for less: with more columns, tags and score need more room. */
function roomsOf(own: readonly OwnField[], hasAmounts: boolean) {
  if (own.length > 0) return { tags: '@max-[100rem]:hidden', score: '@max-[90rem]:hidden' }
  if (hasAmounts) return { tags: '@max-[90rem]:hidden', score: OWN_FROM }
  return { tags: OWN_FROM, score: WIDE }
}
const NOT_PHONE = '@max-xl:hidden'
/** How many tags fit into a row. */
const TAGS = 2

/** The table of leads; on a phone each row keeps its name, company and stage. */
export function LeadTable({ leads, open, selected, onToggleAll, ...rest }: Props) {
  const text = useText(leadsText)
  const hasAmounts = leads.some(({ amount }) => amount !== null)
  const chosen = leads.filter(({ id }) => selected.has(id)).length
  const rooms = roomsOf(rest.own, hasAmounts)
  return (
    <Table aria-label={text.table} className="table-fixed">
      <thead>
        <tr>
          <Th className="w-11 pl-4 md:w-14 md:pl-6">
            <Checkbox
              aria-label={text.select_all}
              checked={chosen > 0 && chosen === leads.length}
              isIndeterminate={chosen > 0 && chosen < leads.length}
              onChange={onToggleAll}
            />
          </Th>
          <Th className="w-[24%] @max-xl:w-auto @4xl:w-[15%]">{text.columns.name}</Th>
          <Th className={NOT_PHONE}>{text.columns.company}</Th>
          <Th className={cn('w-[24%] @[90rem]:w-[20%]', WIDE)}>{text.columns.email}</Th>
          <Th className="w-38 @max-xl:w-31">{text.columns.stage}</Th>
          <Th className={cn('w-[11%]', rooms.tags)}>{text.columns.tags}</Th>
          {rest.own.map(({ key, label }, at) => (
            <Th key={key} className={cn('w-24 truncate', ownFrom(at))}>
              {label}
            </Th>
          ))}
          {hasAmounts ? (
            <Th className={cn('w-28 text-right', WIDE)}>{text.fields.amount}</Th>
          ) : null}
          <Th className={cn('w-16 text-right', rooms.score)}>{text.columns.score}</Th>
          <Th className={cn('w-32 pr-6 text-right', NOT_PHONE)}>{text.columns.added}</Th>
        </tr>
      </thead>
      <tbody>
        {leads.map((lead) => (
          <Row
            key={lead.id}
            lead={lead}
            isOpen={lead.id === open}
            isSelected={selected.has(lead.id)}
            hasAmounts={hasAmounts}
            {...rest}
          />
        ))}
      </tbody>
    </Table>
  )
}

type RowProps = Pick<Props, 'onOpen' | 'onToggle' | 'onTag' | 'own'> & {
  hasAmounts: boolean
  lead: Lead
  isOpen: boolean
  isSelected: boolean
}

// A list of thousands must not be rendered again for one tick; the handlers of a row use no state
// of a render.
const Row = memo(
  function Row({ lead, isOpen, isSelected, hasAmounts, own, onOpen, onToggle, onTag }: RowProps) {
    const text = useText(leadsText)
    const deals = useText(dealText)
    const locale = localeOf(useLanguage())
    const shown = (value: string | number | boolean | undefined) =>
      typeof value === 'boolean' ? (value ? deals.yes : deals.no) : (value ?? '')
    const name = nameOf(lead) || text.unnamed
    const rooms = roomsOf(own, hasAmounts)
    return (
      <tr
        onClick={() => onOpen(lead.id)}
        className={cn(
          'group cursor-pointer has-focus-visible:bg-hover',
          (isOpen || isSelected) && 'bg-selected',
        )}
      >
        <Td className="pl-4 md:pl-6" onClick={(event) => event.stopPropagation()}>
          <label htmlFor={`select-${lead.id}`} className="-m-3 flex p-3">
            <Checkbox
              id={`select-${lead.id}`}
              aria-label={text.select(name)}
              checked={isSelected}
              onChange={() => onToggle(lead.id)}
            />
          </label>
        </Td>
        <Td className="@max-xl:h-14">
          <button
            type="button"
            data-lead={lead.id}
            onClick={() => onOpen(lead.id)}
            className="block max-w-full truncate rounded-control text-left font-medium"
          >
            {name}
          </button>
          <span className="block truncate text-sm text-muted @xl:hidden">
            {lead.name ? (lead.company ?? lead.email) : null}
          </span>
        </Td>
        <Td className={NOT_PHONE}>
          <span className="block truncate">{lead.name ? lead.company : null}</span>
        </Td>
        <Td className={WIDE}>
          <span className="block truncate text-muted" title={lead.email ?? undefined}>
            {lead.email}
          </span>
        </Td>
        <Td>
          <span className="flex items-center gap-2">
            <StageMark stage={lead.stage} />
            <span className="truncate @max-xl:leading-tight @max-xl:whitespace-normal">
              {text.stages[lead.stage]}
            </span>
          </span>
        </Td>
        <Td className={rooms.tags}>
          <span className="flex items-center gap-1 overflow-hidden py-0.5">
            {lead.tags.slice(0, TAGS).map((tag) => (
              <button
                key={tag}
                type="button"
                onClick={(event) => {
                  event.stopPropagation()
                  onTag(tag)
                }}
                className="h-5 max-w-28 min-w-0 truncate rounded-full border border-line px-2 text-xs text-muted hover:border-line-strong hover:text-fg"
              >
                {tag}
              </button>
            ))}
            {lead.tags.length > TAGS ? (
              <span className="text-xs text-muted">+{lead.tags.length - TAGS}</span>
            ) : null}
          </span>
        </Td>
        {own.map(({ key }, at) => (
          <Td key={key} className={cn('truncate text-muted', ownFrom(at))}>
            {shown(lead.custom[key])}
          </Td>
        ))}
        {hasAmounts ? (
          <Td className={cn('text-right whitespace-nowrap', WIDE)} data-numbers>
            {lead.amount !== null && lead.currency
              ? money(locale, lead.amount, lead.currency)
              : null}
          </Td>
        ) : null}
        <Td className={cn('text-right text-muted', rooms.score)}>{lead.score}</Td>
        <Td className={cn('pr-6 text-right text-muted', NOT_PHONE)}>
          <Time at={lead.created_at} />
        </Td>
      </tr>
    )
  },
  (before, after) =>
    before.lead === after.lead &&
    before.isOpen === after.isOpen &&
    before.own === after.own &&
    before.hasAmounts === after.hasAmounts &&
    before.isSelected === after.isSelected,
)
