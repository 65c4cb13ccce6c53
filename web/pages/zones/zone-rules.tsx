import { eventWords } from '../../../shared/words/event-words.ts'
import type { Schemas } from '../../api/client.ts'
import { Checkbox, Switch } from '../../ui/field.tsx'
import { FormField } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import type { Draft } from './draft.ts'
import { Quiet } from './quiet.tsx'
import { zonesText } from './zones.text.ts'

const TYPES = Object.keys(eventWords.en.types) as Schemas['EventType'][] // safe: its keys

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }

/** From when on a zone alerts, of what, and when it is quiet. */
export function Rules({ draft, change }: Part) {
  const text = useText(zonesText)
  const types = useText(eventWords).types
  return (
    <>
      <FormField name="min_severity" label={text.min_severity_is(draft.min_severity)}>
        <input
          type="range"
          aria-label={text.min_severity}
          min={0}
          max={100}
          value={draft.min_severity}
          onChange={({ target }) => change({ min_severity: Number(target.value) })}
          className="w-full"
        />
      </FormField>
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-sm font-medium">{text.types}</legend>
        <div className="grid grid-cols-2 gap-x-4 gap-y-1">
          {TYPES.map((type) => (
            <label key={type} htmlFor={`type-${type}`} className="flex items-center gap-2">
              <Checkbox
                id={`type-${type}`}
                checked={draft.types.includes(type)}
                onChange={({ target }) =>
                  change({
                    types: target.checked
                      ? [...draft.types, type]
                      : draft.types.filter((one) => one !== type),
                  })
                }
              />
              {types[type]}
            </label>
          ))}
        </div>
        <p className="text-sm text-muted">{text.types_hint}</p>
      </fieldset>
      <Quiet draft={draft} change={change} />
      <div className="flex items-center justify-between gap-2">
        {text.enabled}
        <Switch
          label={text.enabled}
          isOn={draft.enabled}
          onChange={(enabled) => change({ enabled })}
        />
      </div>
    </>
  )
}
