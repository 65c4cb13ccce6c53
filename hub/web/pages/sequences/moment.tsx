import { localeOf, useLanguage } from '../../../../web/ui/language.ts'

/** A day with its time on the reader's clock, short enough for a table. */
export function Moment({ at }: { at: string }) {
  const language = useLanguage()
  const words = new Intl.DateTimeFormat(localeOf(language), {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
  return (
    <time dateTime={at} className="whitespace-nowrap" data-numbers>
      {words.format(new Date(at))}
    </time>
  )
}
