import { useQuery } from '@tanstack/react-query'
import { Ban } from 'lucide-react'
import { useId } from 'react'
import { healthQuery } from '../../api/queries.ts'
import { isZoneIcon, ZONE_ICONS, zoneIcon } from '../../event/zone-icons.ts'
import { cn } from '../../ui/class-names.ts'
import { Checkbox, Input } from '../../ui/field.tsx'
import { FormField } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import type { Draft } from './draft.ts'
import { moreRulesText } from './more-rules.text.ts'

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }

const FIRST_COLOR = '#d9480f'

/** The rules of a zone that most zones leave as they are, and how it looks on the map. */
export function MoreRules({ draft, change }: Part) {
  const text = useText(moreRulesText)
  return (
    <details className="rounded-panel border border-line">
      <summary className="px-3 py-2 text-sm font-medium">{text.title}</summary>
      <div className="flex flex-col gap-4 border-t border-line p-3">
        <FormField
          name="severity_multiplier"
          label={text.severity_multiplier}
          hint={text.multiplier_hint}
        >
          <Input
            type="number"
            min={0.1}
            max={5}
            step="any"
            value={draft.severity_multiplier}
            onChange={({ target }) => change({ severity_multiplier: target.value })}
          />
        </FormField>
        <FormField name="match" label={text.match}>
          <Select
            value={draft.match}
            onChange={({ target }) =>
              change({ match: target.value === 'point' ? 'point' : 'footprint' })
            }
            options={(['footprint', 'point'] as const).map((value) => ({
              value,
              label: text.matches[value],
            }))}
          />
        </FormField>
        <FormField name="dwell_minutes" label={text.dwell} hint={text.dwell_hint}>
          <Input
            type="number"
            min={0}
            max={10_080}
            step="any"
            value={draft.dwell_minutes}
            onChange={({ target }) => change({ dwell_minutes: target.value })}
          />
        </FormField>
        <FormField name="max_alerts_per_hour" label={text.hourly} hint={text.hourly_hint}>
          <Input
            type="number"
            min={1}
            max={1000}
            value={draft.max_alerts_per_hour}
            onChange={({ target }) => change({ max_alerts_per_hour: target.value })}
          />
        </FormField>
        <Aftershocks draft={draft} change={change} />
        <Sources draft={draft} change={change} />
        <Colour draft={draft} change={change} />
        <Icons draft={draft} change={change} />
      </div>
    </details>
  )
}

function Aftershocks({ draft, change }: Part) {
  const text = useText(moreRulesText)
  const id = useId()
  return (
    <>
      <label htmlFor={id} className="flex items-center gap-2">
        <Checkbox
          id={id}
          checked={draft.leavesAftershocks}
          onChange={({ target }) => change({ leavesAftershocks: target.checked })}
        />
        {text.aftershocks}
      </label>
      {draft.leavesAftershocks ? (
        <FormField name="aftershocks.magnitude_gap" label={text.gap} hint={text.gap_hint}>
          <Input
            type="number"
            min={0.5}
            max={5}
            step="any"
            value={draft.magnitude_gap}
            onChange={({ target }) => change({ magnitude_gap: target.value })}
          />
        </FormField>
      ) : null}
    </>
  )
}

/** The sources of the service, and those that the zone names already: sources of its owner, for instance. */
function Sources({ draft, change }: Part) {
  const text = useText(moreRulesText)
  const id = useId()
  const health = useQuery(healthQuery)
  const known = health.data?.sources.map(({ source }) => source) ?? []
  const names = [...new Set([...known, ...draft.sources])].toSorted()
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{text.sources}</legend>
      <div className="grid grid-cols-2 gap-x-4 gap-y-1">
        {names.map((name) => (
          <label key={name} htmlFor={`${id}-${name}`} className="flex min-w-0 items-center gap-2">
            <Checkbox
              id={`${id}-${name}`}
              checked={draft.sources.includes(name)}
              onChange={({ target }) =>
                change({
                  sources: target.checked
                    ? [...draft.sources, name]
                    : draft.sources.filter((one) => one !== name),
                })
              }
            />
            <code className="min-w-0 break-all font-sans">{name}</code>
          </label>
        ))}
      </div>
      <p className="text-sm text-muted">{text.sources_hint}</p>
    </fieldset>
  )
}

function Colour({ draft, change }: Part) {
  const text = useText(moreRulesText)
  const id = useId()
  return (
    <div className="flex min-h-8 items-center gap-3">
      <label htmlFor={id} className="flex items-center gap-2">
        <Checkbox
          id={id}
          checked={draft.color !== ''}
          onChange={({ target }) => change({ color: target.checked ? FIRST_COLOR : '' })}
        />
        {text.own_color}
      </label>
      {draft.color ? (
        <input
          type="color"
          aria-label={text.color}
          value={draft.color}
          onChange={({ target }) => change({ color: target.value })}
          className="h-8 w-12 rounded-control border border-line bg-surface"
        />
      ) : null}
    </div>
  )
}

function Icons({ draft, change }: Part) {
  const text = useText(moreRulesText)
  const group = useId()
  const offered = ['', ...Object.keys(ZONE_ICONS)]
  const names = offered.includes(draft.icon) ? offered : [...offered, draft.icon]
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">{text.icon}</legend>
      <div className="flex flex-wrap gap-1">
        {names.map((name) => {
          const Icon = name ? zoneIcon(name) : Ban
          const label = name === '' ? text.no_icon : isZoneIcon(name) ? text.icons[name] : name
          return (
            <label key={name} title={label} className="relative">
              <input
                type="radio"
                name={group}
                aria-label={label}
                checked={draft.icon === name}
                onChange={() => change({ icon: name })}
                className="peer absolute inset-0 size-full appearance-none rounded-control"
              />
              <span
                className={cn(
                  'pointer-events-none flex size-8 items-center justify-center rounded-control border border-transparent pointer-coarse:size-10',
                  'peer-checked:border-accent peer-checked:bg-accent/15 peer-checked:text-accent-text peer-hover:border-line-strong',
                )}
              >
                <Icon size={18} strokeWidth={1.75} aria-hidden />
              </span>
            </label>
          )
        })}
      </div>
    </fieldset>
  )
}
