import { eventWords } from '../../../shared/words/event-words.ts'
import type { Language } from '../../../shared/words/texts.ts'
import type { Zone } from '../../api/queries.ts'
import { changesText } from './changes.text.ts'
import { dayName } from './draft-rules.ts'
import { moreRulesText } from './more-rules.text.ts'
import { zonesText } from './zones.text.ts'

/** The names of what a value may point to, by id. */
export type Names = ReadonlyMap<string, string>

type QuietWindows = NonNullable<Zone['quiet_windows']>
type Steps = NonNullable<Zone['escalation']>

const ALL_WHERE_NULL = ['types', 'sources', 'channel_ids']

/** How numbers and times are written. */
export type Formats = { number: (value: number) => string; time: (at: string) => string }

/** One value of a field of a zone, as its history shows it to people. What is not known here is shown as it is kept. */
export function sayValue(
  field: string,
  value: unknown,
  { language, names, formats }: { language: Language; names: Names; formats: Formats },
): string {
  const [text, zones, more] = [
    changesText[language],
    zonesText[language],
    moreRulesText[language],
  ] as const
  const of = (words: Record<string, string>, key: unknown) => words[String(key)] ?? String(key)
  if (value === null || value === undefined) return ALL_WHERE_NULL.includes(field) ? text.all : '–'
  if (typeof value === 'boolean') return value ? text.yes : text.no
  if (typeof value === 'number') return formats.number(value)
  if (field === 'shape_type') return of(zones.shapes, value)
  if (field === 'match') return of(more.matches, value)
  if (field === 'quiet_mode') return of(zones.quiet_modes, value)
  if (field === 'icon') return of(more.icons, value)
  if (field === 'snoozed_until') return formats.time(String(value))
  if (field === 'org_id') return names.get(String(value)) ?? String(value)
  if (field === 'aftershocks' && typeof value === 'object' && 'magnitude_gap' in value) {
    return text.gap(formats.number(Number(value.magnitude_gap)))
  }
  if (!Array.isArray(value))
    return typeof value === 'object' ? JSON.stringify(value) : String(value)
  if (value.length === 0) return text.none
  if (field === 'quiet_windows') {
    return (value as QuietWindows) // safe: the API's own value of the field
      .map(
        ({ days, start, end }) =>
          `${days.map((day) => dayName(language, day, 'short')).join(' ')} ${start}–${end}`,
      )
      .join('; ')
  }
  if (field === 'escalation') {
    return (value as Steps) // safe: the API's own value of the field
      .map(({ after_minutes: minutes, channel_ids: ids }) =>
        text.step(
          formats.number(minutes),
          ids.map((id) => names.get(id) ?? id).join(', ') || text.none,
        ),
      )
      .join('; ')
  }
  if (field === 'types') return value.map((type) => of(eventWords[language].types, type)).join(', ')
  if (field === 'channel_ids') return value.map((id) => names.get(id) ?? String(id)).join(', ')
  return value
    .map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)))
    .join(', ')
}
