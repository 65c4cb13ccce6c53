import { localeOf, useLanguage } from '../../../../web/ui/language.ts'

/** A day with its time on the reader's clock, short enough for a table. */
export function Moment({ at }: { at: string }) {
  const language = useLanguage()
  const locale = localeOf(language)
  const moment = new Date(at)
  const day = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short' })
  const time = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })
  return (
    <time dateTime={at} data-numbers>
      <span className="whitespace-nowrap">{day.format(moment)}</span>{' '}
      <span className="whitespace-nowrap text-muted">{time.format(moment)}</span>
    </time>
  )
}
