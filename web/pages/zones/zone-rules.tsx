import { eventWords } from '../../../shared/event-words.ts'
import type { Schemas } from '../../api/client.ts'
import type { Zone } from '../../api/queries.ts'
import { Checkbox, Input, Switch } from '../../ui/field.tsx'
import { FormField, Notice } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import { TimeZoneInput } from '../../ui/time-zone.tsx'
import type { Draft } from './draft.ts'
import { moreRulesText } from './more-rules.text.ts'
import { QuietClock } from './quiet-clock.tsx'
import { zonesText } from './zones.text.ts'

const TYPES = Object.keys(eventWords.en.types) as Schemas['EventType'][] // safe: its keys

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }

/** From when on a zone alerts, of what, and when it is quiet. */
export function Rules({ zone, draft, change }: Part & { zone: Zone | undefined }) {
  const text = useText(zonesText)
  const more = useText(moreRulesText)
  const windows = zone?.quiet_windows?.length ?? 0
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
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-sm font-medium">{text.quiet}</legend>
        {windows > 0 ? <Notice text={more.windows(windows)} /> : null}
        <div className="grid grid-cols-2 gap-2">
          <FormField name="quiet_hours_start" label={text.quiet_from}>
            <Input
              type="time"
              value={draft.quiet_hours_start}
              onChange={({ target }) => change({ quiet_hours_start: target.value })}
            />
          </FormField>
          <FormField name="quiet_hours_end" label={text.quiet_to}>
            <Input
              type="time"
              value={draft.quiet_hours_end}
              onChange={({ target }) => change({ quiet_hours_end: target.value })}
            />
          </FormField>
        </div>
        <FormField name="quiet_hours_tz" label={text.time_zone} hint={text.quiet_hint}>
          <TimeZoneInput
            value={draft.quiet_hours_tz}
            onChange={({ target }) => change({ quiet_hours_tz: target.value })}
          />
        </FormField>
        {draft.quiet_hours_start && draft.quiet_hours_end ? (
          <>
            <QuietClock
              start={draft.quiet_hours_start}
              end={draft.quiet_hours_end}
              tz={draft.quiet_hours_tz}
            />
            <FormField name="quiet_mode" label={text.quiet_mode}>
              <Select
                value={draft.quiet_mode}
                onChange={({ target }) =>
                  change({ quiet_mode: target.value === 'drop' ? 'drop' : 'hold' })
                }
                options={(['hold', 'drop'] as const).map((value) => ({
                  value,
                  label: text.quiet_modes[value],
                }))}
              />
            </FormField>
            <FormField name="emergency_severity" label={text.emergency} hint={text.emergency_hint}>
              <Input
                type="number"
                min={0}
                max={100}
                value={draft.emergency_severity}
                onChange={({ target }) => change({ emergency_severity: target.value })}
              />
            </FormField>
          </>
        ) : null}
      </fieldset>
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
