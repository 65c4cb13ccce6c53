import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import { reportsText } from './reports.text.ts'

const DAYS = [1, 7, 30, 90, 365]

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
