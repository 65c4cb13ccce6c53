import { type KeyboardEvent, useId, useRef, useState } from 'react'
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

/**
 * Text that becomes a field on a click: Enter or leaving it saves, Esc cancels. What was not taken
 * stays in the field.
 */
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
  /** Answers false, at once or later, if the value was not taken. */
  onChange: (value: string) => unknown
  inputMode?: 'numeric' | 'decimal'
  hint?: string
}) {
  const id = useId()
  const text = useText(leadsText)
  /** Undefined: nothing that is not saved. */
  const [typed, setTyped] = useState<string>()
  const [isRefused, setRefused] = useState(false)
  const isEscaped = useRef(false)
  const [isFocused, setFocused] = useState(false)
  const drop = () => {
    setTyped(undefined)
    setRefused(false)
  }
  const save = async (text: string) => {
    const isTaken = (await onChange(text)) !== false
    setRefused(!isTaken)
    // What was typed since stays.
    if (isTaken) setTyped((now) => (now?.trim() === text ? undefined : now))
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') event.currentTarget.blur()
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    isEscaped.current = true
    drop()
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
        aria-invalid={isRefused || undefined}
        value={typed ?? value}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => {
          setFocused(false)
          const text = typed?.trim()
          if (text === value) drop()
          else if (!isEscaped.current && text !== undefined) void save(text)
          isEscaped.current = false
        }}
        className={cn(
          'h-8 w-full truncate rounded-control border border-transparent bg-transparent px-2.5 placeholder:text-muted aria-invalid:border-bad pointer-coarse:h-10 pointer-coarse:text-lg',
          !isReadOnly &&
            'hover:border-line focus:border-accent focus:bg-surface focus:outline-none',
        )}
      />
    </Row>
  )
}
