import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { leadsText } from './leads.text.ts'

/** The name of a group of rows. */
export function Heading({ children }: { children: React.ReactNode }) {
  return <h3 className="mt-4 mb-1 font-semibold">{children}</h3>
}

export function Row({
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
export function EditableRow({
  label,
  value,
  hint,
  isReadOnly,
  onChange,
  inputMode,
}: {
  label: string
  value: string
  isReadOnly: boolean
  onChange: (value: string) => void
  inputMode?: 'numeric' | 'decimal'
  hint?: string
}) {
  const id = useId()
  const text = useText(leadsText)
  const [typed, setTyped] = useState(value)
  const isEscaped = useRef(false)
  const [isFocused, setFocused] = useState(false)
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
    <Row label={label} htmlFor={id} {...(hint && isFocused ? { hint } : {})}>
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
        onFocus={() => setFocused(true)}
        onBlur={() => {
          setFocused(false)
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
