import { CalendarDays } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useText } from '../language.ts'
import { Popover } from '../popover.tsx'
import { Spinner } from '../states.tsx'
import { useWords } from '../words.tsx'
import { datesText } from './dates.text.ts'

/** Loaded when it is first opened: no page needs it at once. */
const Calendar = lazy(() =>
  import('./calendar.tsx').then(({ Calendar }) => ({ default: Calendar })),
)

/** The button in a field for a day that opens a calendar. */
export function ChooseDay({
  value,
  min,
  isDisabled,
  onChoose,
}: {
  value: string
  min?: string | undefined
  isDisabled: boolean
  onChoose: (day: string) => void
}) {
  const text = useText(datesText)
  const words = useWords()
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover
      label={text.calendar}
      align="end"
      isOpen={isOpen}
      onOpenChange={setOpen}
      focusesItself
      className="w-auto min-w-0"
      trigger={
        <button
          type="button"
          disabled={isDisabled}
          aria-label={text.open_calendar}
          title={text.open_calendar}
          className="absolute inset-y-0 right-0 flex w-9 items-center justify-center rounded-control text-muted hover:text-fg disabled:pointer-events-none disabled:opacity-50"
        >
          <CalendarDays size={16} aria-hidden />
        </button>
      }
    >
      <Suspense
        fallback={
          <div className="flex h-72 w-64 items-center justify-center">
            <Spinner label={words.loading} />
          </div>
        }
      >
        <Calendar
          value={value}
          min={min}
          onChoose={(day) => {
            setOpen(false)
            onChoose(day)
          }}
        />
      </Suspense>
    </Popover>
  )
}
