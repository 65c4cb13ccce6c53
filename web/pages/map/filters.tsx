import { BANDS } from '../../../shared/decide/bands.ts'
import { eventWords } from '../../../shared/words/event-words.ts'
import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import { TYPES } from './filter.ts'
import { mapText } from './map.text.ts'

type Props = {
  type: string | null
  severity: string | null
  onChange: (name: 'type' | 'severity', value: string | null) => void
}

/** Which events the map shows. */
export function Filters({ type, severity, onChange }: Props) {
  const text = useText(mapText)
  const words = useText(eventWords)
  const select = (name: 'type' | 'severity', all: string, options: [string, string][]) => ({
    value: (name === 'type' ? type : severity) ?? '',
    options: [{ value: '', label: all }, ...options.map(([value, label]) => ({ value, label }))],
    onChange: ({ target }: { target: { value: string } }) => onChange(name, target.value || null),
    className: 'min-w-0 flex-1',
  })
  return (
    <div className="flex gap-2 px-4 py-2">
      <Select
        aria-label={text.type}
        {...select(
          'type',
          text.all_types,
          TYPES.map((each) => [each, words.types[each]]),
        )}
      />
      <Select
        aria-label={text.severity}
        {...select(
          'severity',
          text.all_severities,
          BANDS.slice(1).map((band) => [band, text.at_least(words.bands[band])]),
        )}
      />
    </div>
  )
}
