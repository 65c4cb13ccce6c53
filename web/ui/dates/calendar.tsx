import { ChevronDown, ChevronLeft, ChevronRight } from 'lucide-react'
import { DayPicker } from 'react-day-picker'
import { enUS } from 'react-day-picker/locale/en-US'
import { tr } from 'react-day-picker/locale/tr'
import { cn } from '../class-names.ts'
import { localeOf, useLanguage, useText } from '../language.ts'
import { datesText } from './dates.text.ts'

const LOCALES = { en: enUS, tr }
const ARROWS = { left: ChevronLeft, right: ChevronRight, down: ChevronDown, up: ChevronDown }
const COMPONENTS = { Chevron }
/** Years before and after this one that can be chosen. */
const YEARS = 10

const step =
  'flex size-8 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-fg disabled:opacity-40 pointer-coarse:size-10'
const choice =
  'relative inline-flex items-center rounded-control px-1.5 py-1 font-medium hover:bg-hover has-[select:focus-visible]:outline-2 has-[select:focus-visible]:outline-accent'

/** A month of days to choose one of, with the keys of a calendar; days before `min` cannot be chosen. */
export function Calendar({
  value,
  min,
  onChoose,
}: {
  value: string
  min?: string | undefined
  onChoose: (day: string) => void
}) {
  const text = useText(datesText)
  const language = useLanguage()
  // The library's own English label says 1st where the button says 1: a voice could not press it.
  const { format } = new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'full' })
  const year = new Date().getFullYear()
  const years = [value, min].flatMap((day) => (day ? Number(day.slice(0, 4)) : []))
  const chosen = value ? dateOf(value) : undefined
  const first = min ? Number(min.slice(0, 4)) : Math.min(year - YEARS, ...years)
  return (
    <DayPicker
      mode="single"
      autoFocus
      locale={LOCALES[language]}
      {...firstDayOf(localeOf(language))}
      captionLayout="dropdown"
      fixedWeeks
      showOutsideDays
      startMonth={min ? dateOf(min) : new Date(first, 0)}
      endMonth={new Date(Math.max(year + YEARS, ...years), 11)}
      {...(chosen
        ? { selected: chosen, defaultMonth: chosen }
        : min
          ? { defaultMonth: later(min) }
          : {})}
      {...(min ? { disabled: { before: dateOf(min) } } : {})}
      // A press on the chosen day would take it away; here it means that day.
      onSelect={(_, pressed) => onChoose(dayOf(pressed))}
      components={COMPONENTS}
      labels={{
        labelDayButton: (day, { today, selected }) => {
          const said = today ? text.today(format(day)) : format(day)
          return selected ? text.selected(said) : said
        },
      }}
      classNames={{
        months: 'relative',
        nav: 'absolute inset-x-0 top-0 flex justify-between',
        button_previous: step,
        button_next: step,
        month_caption: 'flex h-8 items-center justify-center pointer-coarse:h-10',
        dropdowns: 'flex items-center gap-1',
        dropdown_root: choice,
        dropdown: 'absolute inset-0 z-10 w-full cursor-pointer opacity-0',
        caption_label: 'inline-flex items-center gap-1',
        month_grid: 'mt-2 border-collapse',
        weekday: 'h-8 w-9 text-xs font-normal text-muted pointer-coarse:w-10',
        day: 'p-0 text-center',
        day_button: cn(
          'flex size-9 items-center justify-center rounded-control tabular-nums hover:bg-hover pointer-coarse:size-10',
          'focus-visible:outline-2 focus-visible:-outline-offset-2 focus-visible:outline-accent',
          'disabled:pointer-events-none disabled:opacity-40',
        ),
        outside: 'text-muted',
        today: 'font-semibold text-accent-text',
        selected:
          '[&>button]:bg-accent [&>button]:text-on-accent [&>button]:hover:bg-accent font-semibold',
      }}
    />
  )
}

function Chevron({ orientation = 'left' }: { orientation?: keyof typeof ARROWS }) {
  const Arrow = ARROWS[orientation]
  return <Arrow size={orientation === 'down' ? 14 : 16} aria-hidden />
}

/** On which day a week begins: 0 is Sunday. Not every browser knows it of a region. */
function firstDayOf(locale: string): { weekStartsOn?: 0 | 1 | 2 | 3 | 4 | 5 | 6 } {
  const known = new Intl.Locale(locale) as { getWeekInfo?: () => { firstDay: number } } // safe: a newer method
  const first = known.getWeekInfo?.().firstDay
  return first === undefined ? {} : { weekStartsOn: (first % 7) as 0 } // safe: 1 to 7
}

const dateOf = (day: string) => new Date(`${day}T00:00:00`)
const later = (min: string) => new Date(Math.max(dateOf(min).getTime(), Date.now()))

function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const year = String(date.getFullYear()).padStart(4, '0')
  return `${year}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
