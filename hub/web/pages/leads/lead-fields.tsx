import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import type { Schemas } from '../../api/client.ts'
import { leadsText } from './leads.text.ts'
import { type Lead, useChangeLead } from './queries.ts'
import { STAGES, type Stage } from './stage.tsx'

const TEXTS = [
  'name',
  'email',
  'company',
  'title',
  'phone',
  'website',
  'country',
  'source',
] as const
type Basis = NonNullable<Lead['lawful_basis']>
const BASES = ['consent', 'contract', 'legitimate_interest'] as const satisfies readonly Basis[]

export function basisOf(value: string): Schemas['Lead']['lawful_basis'] {
  return BASES.find((basis) => basis === value) ?? null
}

export function useBasisOptions() {
  const { basis } = useText(leadsText)
  return [
    { value: '', label: basis.none },
    ...BASES.map((value) => ({ value, label: basis[value] })),
  ]
}

/** The fields of a lead, edited in place. */
export function LeadFields({ lead, isReadOnly }: { lead: Lead; isReadOnly: boolean }) {
  const text = useText(leadsText)
  const change = useChangeLead()
  const bases = useBasisOptions()
  const set = (field: Partial<Lead>) => change.mutate({ id: lead.id, ...field })
  return (
    <div className="flex flex-col gap-0.5 p-5">
      <Row label={text.fields.stage}>
        <Select
          aria-label={text.fields.stage}
          className="w-full"
          disabled={isReadOnly}
          value={lead.stage}
          onChange={(event) => set({ stage: event.target.value as Stage })} // safe: one of the options
          options={STAGES.map((value) => ({ value, label: text.stages[value] }))}
        />
      </Row>
      {TEXTS.map((field) => (
        <EditableRow
          key={field}
          label={text.fields[field]}
          value={lead[field] ?? ''}
          isReadOnly={isReadOnly}
          onChange={(value) => set({ [field]: value || null })}
        />
      ))}
      <EditableRow
        label={text.fields.score}
        value={lead.score === null ? '' : String(lead.score)}
        isReadOnly={isReadOnly}
        inputMode="numeric"
        onChange={(value) =>
          set({ score: /^\d+$/.test(value) ? Math.min(100, Number(value)) : null })
        }
      />
      <EditableRow
        label={text.fields.tags}
        value={lead.tags.join(', ')}
        isReadOnly={isReadOnly}
        onChange={(value) =>
          set({ tags: [...new Set(value.split(/[,;]/).map((tag) => tag.trim()))].filter(Boolean) })
        }
      />
      <Row label={text.fields.lawful_basis} hint={text.basis_hint}>
        <Select
          aria-label={text.fields.lawful_basis}
          className="w-full"
          disabled={isReadOnly}
          value={lead.lawful_basis ?? ''}
          onChange={(event) => set({ lawful_basis: basisOf(event.target.value) })}
          options={bases}
        />
      </Row>
    </div>
  )
}

function Row({
  label,
  hint,
  htmlFor,
  children,
}: {
  label: string
  hint?: string
  htmlFor?: string
  children: React.ReactNode
}) {
  return (
    <div className="grid grid-cols-[7.5rem_minmax(0,1fr)] items-start gap-x-3">
      <label htmlFor={htmlFor} className="truncate pt-1.5 text-sm text-muted pointer-coarse:pt-2.5">
        {label}
      </label>
      <div>
        {children}
        {hint ? <p className="mt-1 text-xs text-muted">{hint}</p> : null}
      </div>
    </div>
  )
}

/** Text that becomes a field on a click: Enter or leaving it saves, Esc cancels. */
function EditableRow({
  label,
  value,
  isReadOnly,
  onChange,
  inputMode,
}: {
  label: string
  value: string
  isReadOnly: boolean
  onChange: (value: string) => void
  inputMode?: 'numeric'
}) {
  const id = useId()
  const text = useText(leadsText)
  const [typed, setTyped] = useState(value)
  const isEscaped = useRef(false)
  useEffect(() => setTyped(value), [value])
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') event.currentTarget.blur()
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    isEscaped.current = true
    setTyped(value)
    event.currentTarget.blur()
  }
  return (
    <Row label={label} htmlFor={id}>
      <input
        id={id}
        type="text"
        autoComplete="off"
        inputMode={inputMode}
        readOnly={isReadOnly}
        placeholder={text.none}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => {
          if (!isEscaped.current && typed.trim() !== value) onChange(typed.trim())
          isEscaped.current = false
        }}
        className={cn(
          'h-8 w-full truncate rounded-control border border-transparent bg-transparent px-2.5 placeholder:text-muted pointer-coarse:h-10 pointer-coarse:text-lg',
          !isReadOnly &&
            'hover:border-line focus:border-accent focus:bg-surface focus:outline-none',
        )}
      />
    </Row>
  )
}
