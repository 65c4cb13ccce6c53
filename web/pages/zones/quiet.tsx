import { cn } from '../../ui/class-names.ts'
import { TimeInput } from '../../ui/dates/inputs.tsx'
import { Input } from '../../ui/field.tsx'
import { FormField, FormGroup } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import { TimeZoneInput } from '../../ui/time-zone.tsx'
import { useWords } from '../../ui/words.tsx'
import type { Draft } from './draft.ts'
import {
  DAYS,
  dayName,
  MAX_WINDOWS,
  type WindowDraft,
  windowField,
  withWindow,
} from './draft-rules.ts'
import { quietText } from './quiet.text.ts'
import { QuietDial, ZoneClock } from './quiet-clock.tsx'
import { Rows } from './rows.tsx'
import { zonesText } from './zones.text.ts'

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }

/** When a zone is quiet: its windows, and what becomes of alerts in them. */
export function Quiet({ draft, change }: Part) {
  const zones = useText(zonesText)
  const text = useText(quietText)
  const { quiet } = draft
  const hasWindows = quiet.windows.length > 0
  const set = (windows: WindowDraft[]) => change({ quiet: { ...quiet, windows } })
  return (
    <FormGroup name="quiet_windows" label={zones.quiet}>
      <Rows
        add={text.add}
        limit={quiet.windows.length < MAX_WINDOWS ? undefined : text.most(MAX_WINDOWS)}
        hint={hasWindows ? undefined : text.none}
        onAdd={() => change({ quiet: withWindow(quiet) })}
        rows={quiet.windows.map((window, nth) => ({
          key: window.key,
          onRemove: () => set(quiet.windows.filter((one) => one !== window)),
          label: text.window(nth + 1),
          remove: text.remove(nth + 1),
          children: (
            <Window
              nth={nth}
              draft={draft}
              window={window}
              onChange={(part) =>
                set(quiet.windows.map((one) => (one === window ? { ...one, ...part } : one)))
              }
            />
          ),
        }))}
      />
      {hasWindows ? (
        <>
          <FormField name="quiet_hours_tz" label={zones.time_zone}>
            <TimeZoneInput
              value={draft.quiet_hours_tz}
              onChange={({ target }) => change({ quiet_hours_tz: target.value })}
            />
          </FormField>
          <ZoneClock tz={draft.quiet_hours_tz} />
          <FormField name="quiet_mode" label={zones.quiet_mode}>
            <Select
              value={draft.quiet_mode}
              onChange={({ target }) =>
                change({ quiet_mode: target.value === 'drop' ? 'drop' : 'hold' })
              }
              options={(['hold', 'drop'] as const).map((value) => ({
                value,
                label: zones.quiet_modes[value],
              }))}
            />
          </FormField>
          <FormField name="emergency_severity" label={zones.emergency} hint={zones.emergency_hint}>
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
    </FormGroup>
  )
}

function Window({
  nth,
  draft: { quiet, quiet_hours_tz },
  window,
  onChange,
}: {
  nth: number
  draft: Draft
  window: WindowDraft
  onChange: (part: Partial<WindowDraft>) => void
}) {
  const zones = useText(zonesText)
  const text = useText(quietText)
  const { days, start, end } = window
  const isNextDay = start !== '' && end !== '' && end < start && end !== '00:00'
  return (
    <div className="flex flex-col gap-3">
      <Days
        name={windowField(quiet, nth, 'days')}
        days={days}
        onChange={(days) => onChange({ days })}
      />
      <div className="flex items-start gap-3">
        <QuietDial start={start} end={end} tz={quiet_hours_tz} />
        <div className="flex min-w-0 flex-1 flex-col gap-2">
          <FormField name={windowField(quiet, nth, 'start')} label={zones.quiet_from}>
            <TimeInput value={start} onChange={(start) => onChange({ start })} />
          </FormField>
          <FormField
            name={windowField(quiet, nth, 'end')}
            label={zones.quiet_to}
            hint={isNextDay ? text.next_day : end === '24:00' ? text.midnight : undefined}
          >
            <TimeInput
              value={end === '24:00' ? '00:00' : end}
              onChange={(end) => onChange({ end: end === '00:00' ? '24:00' : end })}
            />
          </FormField>
        </div>
      </div>
    </div>
  )
}

function Days({
  name,
  days,
  onChange,
}: {
  name: string
  days: WindowDraft['days']
  onChange: (days: WindowDraft['days']) => void
}) {
  const text = useText(quietText)
  const { locale } = useWords()
  return (
    <FormGroup name={name} label={text.days} className="gap-1">
      <div className="grid grid-cols-7 gap-1">
        {DAYS.map((day) => (
          <label key={day} className="relative">
            <input
              type="checkbox"
              aria-label={dayName(locale, day, 'long')}
              checked={days.includes(day)}
              onChange={({ target }) =>
                onChange(DAYS.filter((one) => (one === day ? target.checked : days.includes(one))))
              }
              className="peer absolute inset-0 size-full appearance-none rounded-control"
            />
            <span
              aria-hidden
              className={cn(
                'pointer-events-none flex h-8 items-center justify-center rounded-control border border-line text-sm text-muted pointer-coarse:h-10',
                'peer-checked:border-accent peer-checked:bg-accent/15 peer-checked:font-medium peer-checked:text-accent-text peer-hover:border-line-strong',
              )}
            >
              {dayName(locale, day, 'short')}
            </span>
          </label>
        ))}
      </div>
    </FormGroup>
  )
}
