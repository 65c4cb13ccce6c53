import { localeOf, number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { useIsPhone } from '../../../../web/ui/layer.tsx'
import { Table, Td, Th } from '../../../../web/ui/lists/table.tsx'
import { day } from '../../../../web/ui/time.tsx'
import type { Schemas } from '../../api/client.ts'
import { leadsText } from '../leads/leads.text.ts'
import { money } from '../leads/money.ts'
import { Card } from './card.tsx'
import { Figures } from './figures.tsx'
import { numbersText } from './numbers.text.ts'
import { WeekBars } from './week-bars.tsx'

type Week = Schemas['Numbers']['weeks'][number]

const KINDS = ['new', 'contacted', 'replied', 'won', 'lost'] as const
/** The stages' own, but for new and lost, which would be the same grey. */
const COLOURS = {
  new: 'var(--bar)',
  contacted: 'var(--stage-contacted)',
  replied: 'var(--stage-replied)',
  won: 'var(--stage-won)',
  lost: 'var(--bad)',
} as const

/** The pipeline by week: a chart, and its numbers with the sums of the deals that were decided. */
export function Weeks({ weeks }: { weeks: Week[] }) {
  const { weeks: text } = useText(numbersText)
  const names = useNames()
  const isPhone = useIsPhone()
  const newest = weeks.toReversed()
  return (
    <Card title={text.title} isWide>
      <WeekBars
        label={text.title}
        weeks={weeks.map((one) => ({ week: one.week, values: KINDS.map((kind) => one[kind]) }))}
        series={KINDS.map((kind) => ({ name: names[kind], colour: COLOURS[kind] }))}
      />
      {isPhone ? <WeekList weeks={newest} /> : <WeekTable weeks={newest} />}
      <p className="mt-2 text-sm text-muted text-pretty">{text.hint}</p>
    </Card>
  )
}

function useNames() {
  const { weeks } = useText(numbersText)
  const { stages } = useText(leadsText)
  return { ...stages, new: weeks.new }
}

/** What deals came to, each currency by itself. */
function useSums() {
  const locale = localeOf(useLanguage())
  return (all: Week['won_sums']) =>
    all.map(({ currency, amount }) => money(locale, amount, currency)).join(' + ')
}

function WeekTable({ weeks }: { weeks: Week[] }) {
  const { weeks: text } = useText(numbersText)
  const names = useNames()
  const sums = useSums()
  const language = useLanguage()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <section aria-label={text.title} tabIndex={0} className="-mx-5 mt-4 overflow-x-auto">
      <Table aria-label={text.title}>
        <thead>
          <tr>
            <Th className="bg-surface pl-5">{text.week}</Th>
            {KINDS.map((kind) => (
              <Th key={kind} className="bg-surface text-right">
                {names[kind]}
              </Th>
            ))}
            <Th className="bg-surface text-right">{text.won_sum}</Th>
            <Th className="bg-surface pr-5 text-right">{text.lost_sum}</Th>
          </tr>
        </thead>
        <tbody data-numbers>
          {weeks.map((one) => (
            <tr key={one.week}>
              <Td className="pl-5 whitespace-nowrap">
                <time dateTime={one.week}>{day(one.week, localeOf(language))}</time>
              </Td>
              {KINDS.map((kind) => (
                <Td key={kind} className="text-right">
                  {number(language, one[kind])}
                </Td>
              ))}
              <Td className="text-right whitespace-nowrap">{sums(one.won_sums)}</Td>
              <Td className="pr-5 text-right whitespace-nowrap">{sums(one.lost_sums)}</Td>
            </tr>
          ))}
        </tbody>
      </Table>
    </section>
  )
}

/** The same for a phone, where eight columns would not fit. */
function WeekList({ weeks }: { weeks: Week[] }) {
  const { weeks: text } = useText(numbersText)
  const names = useNames()
  const sums = useSums()
  const language = useLanguage()
  return (
    <ul aria-label={text.title} className="mt-4" data-numbers>
      {weeks.map((one) => {
        const values = [
          ...KINDS.map((kind) => [names[kind], number(language, one[kind])] as const),
          [text.won_sum, sums(one.won_sums)] as const,
          [text.lost_sum, sums(one.lost_sums)] as const,
        ].filter(([, value]) => value !== '')
        return (
          <li key={one.week} className="border-line py-2 not-last:border-b">
            <time dateTime={one.week} className="font-medium">
              {day(one.week, localeOf(language))}
            </time>
            <Figures figures={values} />
          </li>
        )
      })}
    </ul>
  )
}
