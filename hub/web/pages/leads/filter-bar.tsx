import { useQuery } from '@tanstack/react-query'
import { Search, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { cn } from '../../../../web/ui/class-names.ts'
import { controlClass } from '../../../../web/ui/field.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import { useProject } from '../../project.ts'
import { dealText } from './deal.text.ts'
import { fieldsQuery } from './deal-queries.ts'
import { leadsText } from './leads.text.ts'
import type { LeadFilter } from './queries.ts'
import { STAGES } from './stage.tsx'

const PAUSE_MS = 200

/** Filters the list; the filter is stored in the address. */
export function FilterBar({
  filter,
  onChange,
}: {
  filter: LeadFilter
  onChange: (
    change: Partial<Record<'q' | 'stage' | 'tag' | 'field' | 'value', string | null>>,
  ) => void
}) {
  const text = useText(leadsText)
  const [typed, setTyped] = useState(filter.q ?? '')
  useEffect(() => {
    if (typed.trim() === (filter.q ?? '')) return
    const timer = setTimeout(() => onChange({ q: typed.trim() || null }), PAUSE_MS)
    return () => clearTimeout(timer)
  })
  useEffect(() => {
    if (!filter.q) setTyped('')
  }, [filter.q])
  return (
    // biome-ignore lint/a11y/useSemanticElements: not every screen reader knows <search>
    <div role="search" aria-label={text.filter} className="flex flex-wrap items-center gap-2 pb-3">
      <div className="relative min-w-0 flex-1 basis-40 max-md:basis-full md:max-w-72">
        <Search
          size={14}
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-muted"
        />
        <input
          type="text"
          aria-label={text.filter}
          placeholder={text.find}
          value={typed}
          autoComplete="off"
          onChange={(event) => setTyped(event.target.value)}
          className={cn(controlClass, 'h-8 text-ellipsis pl-8 pointer-coarse:h-10')}
        />
      </div>
      <Select
        aria-label={text.stage}
        className="w-40 max-md:flex-1"
        value={filter.stage ?? ''}
        onChange={(event) => onChange({ stage: event.target.value || null })}
        options={[
          { value: '', label: text.any_stage },
          ...STAGES.map((stage) => ({ value: stage, label: text.stages[stage] })),
        ]}
      />
      <OwnFilter filter={filter} onChange={onChange} />
      {filter.tag ? (
        <button
          type="button"
          onClick={() => onChange({ tag: null })}
          className="flex h-7 max-w-48 items-center gap-1.5 rounded-full border border-line px-2.5 text-sm hover:bg-hover"
        >
          <span className="truncate">{text.tagged(filter.tag)}</span>
          <X size={12} aria-label={text.remove_filter} />
        </button>
      ) : null}
    </div>
  )
}

/** Filters by a field of the project's own: which one, and then which value. */
function OwnFilter({ filter, onChange }: Parameters<typeof FilterBar>[0]) {
  const text = useText(dealText)
  const { slug } = useProject()
  const fields = useQuery(fieldsQuery(slug)).data ?? []
  if (fields.length === 0) return null
  const field = fields.find(({ key }) => key === filter.field)
  const values =
    field?.kind === 'choice'
      ? (field.choices ?? []).map((one) => ({ value: one, label: one }))
      : field?.kind === 'yes_no'
        ? [
            { value: 'true', label: text.yes },
            { value: 'false', label: text.no },
          ]
        : undefined
  return (
    <>
      <Select
        aria-label={text.filter.field}
        className="w-40 max-md:flex-1"
        value={filter.field ?? ''}
        onChange={({ target }) => onChange({ field: target.value || null, value: null })}
        options={[
          { value: '', label: text.filter.any_field },
          ...fields.map(({ key, label }) => ({ value: key, label })),
        ]}
      />
      {field && values ? (
        <Select
          aria-label={text.filter.value(field.label)}
          className="w-36"
          value={filter.value ?? ''}
          onChange={({ target }) => onChange({ value: target.value || null })}
          options={[{ value: '', label: text.filter.any_value }, ...values]}
        />
      ) : field ? (
        <input
          key={field.key}
          type="text"
          aria-label={text.filter.value(field.label)}
          placeholder={text.filter.any_value}
          defaultValue={filter.value ?? ''}
          onBlur={({ target }) => onChange({ value: target.value.trim() || null })}
          onKeyDown={(event) => {
            if (event.key === 'Enter') event.currentTarget.blur()
          }}
          className={cn(controlClass, 'h-8 w-36 pointer-coarse:h-10')}
        />
      ) : null}
    </>
  )
}
