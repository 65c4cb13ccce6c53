import { useSearchParams } from 'wouter'
import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import { reportsText } from './reports.text.ts'

const DAYS = [1, 7, 30, 90, 365]
const USUAL = 30

/** A choice of a report, which stands in the address; an empty one does not. */
export function useChoice(name: string) {
  const [search, setSearch] = useSearchParams()
  const choose = (value: string) =>
    setSearch((before) => {
      const next = new URLSearchParams(before)
      if (value) next.set(name, value)
      else next.delete(name)
      return next
    })
  return [search.get(name) ?? '', choose] as const
}

/** The window of a report in days, which stands in the address. */
export function usePeriod() {
  const [chosen, choose] = useChoice('days')
  const days = DAYS.find((one) => String(one) === chosen) ?? USUAL
  return [days, (next: number) => choose(next === USUAL ? '' : String(next))] as const
}

/** The window of a report in days. */
export function Period({ days, onDays }: { days: number; onDays: (days: number) => void }) {
  const text = useText(reportsText)
  return (
    <Select
      aria-label={text.days}
      value={String(days)}
      onChange={({ target }) => onDays(Number(target.value))}
      options={DAYS.map((value) => ({ value: String(value), label: text.last_days(value) }))}
    />
  )
}
