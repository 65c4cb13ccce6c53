import { Check, CircleAlert, Eye, EyeOff } from 'lucide-react'
import {
  type ComponentProps,
  createContext,
  type ReactNode,
  useContext,
  useId,
  useState,
} from 'react'
import { cn } from './class-names.ts'
import { useWords } from './words.tsx'

type Control = { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true; name?: string }
const ControlContext = createContext<Control | undefined>(undefined)
const LabelContext = createContext('')

/** The attributes that connect a control inside a Field with its label, hint and error. */
export function useControl(): Partial<Control> {
  return useContext(ControlContext) ?? {}
}

/** The label of the Field around a control, for what the control says of itself. */
export function useFieldLabel(): string {
  return useContext(LabelContext)
}

type FieldProps = {
  label: string
  name?: string
  hint?: ReactNode
  error?: string | undefined
  isOptional?: boolean
  className?: string
  children: ReactNode
}

/** A label, its control, and below it the error or else the hint. */
export function Field({ label, name, hint, error, isOptional, className, children }: FieldProps) {
  const id = useId()
  const words = useWords()
  const described = error ? `${id}-error` : hint ? `${id}-hint` : undefined
  return (
    <div className={cn('flex flex-col gap-1', className)}>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {isOptional ? (
          <span className="ml-2 font-normal whitespace-nowrap text-muted">{words.optional}</span>
        ) : null}
      </label>
      <ControlContext
        value={{
          id,
          ...(name ? { name } : {}),
          ...(described ? { 'aria-describedby': described } : {}),
          ...(error ? { 'aria-invalid': true } : {}),
        }}
      >
        <LabelContext value={label}>{children}</LabelContext>
      </ControlContext>
      {error ? (
        <ErrorLine id={`${id}-error`} text={error} />
      ) : hint ? (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      ) : null}
    </div>
  )
}

/** What is wrong with a field, below it. */
export function ErrorLine({ id, text }: { id: string; text: string }) {
  return (
    <p id={id} className="flex items-start gap-1.5 text-sm text-bad">
      <CircleAlert size={14} className="mt-0.5 shrink-0" aria-hidden />
      {text}
    </p>
  )
}

/** The classes of all text inputs. */
export const controlClass =
  'w-full rounded-control border border-line bg-surface px-2.5 text-fg transition-colors hover:border-line-strong focus:border-accent focus:outline-2 focus:-outline-offset-1 focus:outline-accent disabled:opacity-50 aria-invalid:border-bad pointer-coarse:text-lg'

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return (
    <input
      type="text"
      autoComplete="off"
      {...useControl()}
      {...rest}
      className={cn(controlClass, 'h-8 pointer-coarse:h-10', className)}
    />
  )
}

export function Textarea({ className, rows = 4, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea
      rows={rows}
      {...useControl()}
      {...rest}
      className={cn(controlClass, 'resize-y py-1.5 field-sizing-content max-h-96', className)}
      style={{ minHeight: `${rows * 1.45 + 1}em` }}
    />
  )
}

/** An input for a password or key, which can be made visible. */
export function SecretInput({ className, ...rest }: ComponentProps<'input'>) {
  const [isShown, setShown] = useState(false)
  const words = useWords()
  const Icon = isShown ? EyeOff : Eye
  return (
    <div className="relative">
      <Input
        {...rest}
        type={isShown ? 'text' : 'password'}
        spellCheck={false}
        className={cn('pr-10', className)}
      />
      <button
        type="button"
        aria-label={isShown ? words.hide : words.show}
        onClick={() => setShown(!isShown)}
        className="absolute inset-y-0 right-0 flex w-9 items-center justify-center rounded-control text-muted hover:text-fg"
      >
        <Icon size={16} aria-hidden />
      </button>
    </div>
  )
}

/**
 * A checkbox; `indeterminate` means that some of several are selected. It takes the place of 16 pixels
 * and is pressed on 24 (WCAG 2.2, target size).
 */
export function Checkbox({
  className,
  isIndeterminate = false,
  ...rest
}: ComponentProps<'input'> & { isIndeterminate?: boolean }) {
  return (
    <span className={cn('relative inline-flex size-4 shrink-0', className)}>
      <input
        type="checkbox"
        {...rest}
        ref={(node) => {
          if (node) node.indeterminate = isIndeterminate
        }}
        className="peer absolute -inset-1 size-6 appearance-none rounded-control"
      />
      <span
        aria-hidden
        className="pointer-events-none size-4 rounded-[4px] border border-line-strong bg-surface peer-checked:border-accent peer-checked:bg-accent peer-indeterminate:border-accent peer-indeterminate:bg-accent"
      />
      <Check
        size={12}
        strokeWidth={3}
        aria-hidden
        className="pointer-events-none absolute inset-0.5 hidden text-on-accent peer-checked:block peer-indeterminate:hidden"
      />
      <span
        aria-hidden
        className="pointer-events-none absolute top-[7px] left-1 hidden h-0.5 w-2 bg-on-accent peer-indeterminate:block"
      />
    </span>
  )
}

/** A checkbox with its label beside it. */
export function Choice({
  label,
  isOn,
  onChange,
  className,
  disabled,
}: {
  label: ReactNode
  isOn: boolean
  onChange: (isOn: boolean) => void
  className?: string
  disabled?: boolean
}) {
  const id = useId()
  return (
    <span className={cn('flex items-center gap-2 text-sm', className)}>
      <Checkbox
        id={id}
        checked={isOn}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id} className="min-w-0">
        {label}
      </label>
    </span>
  )
}

/** A labelled switch that takes effect at once. */
export function Switch({
  label,
  isOn,
  onChange,
  disabled,
}: {
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
  disabled?: boolean
}) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!isOn)}
      className={cn(
        'relative h-5 w-9 shrink-0 rounded-full border transition-colors disabled:opacity-50',
        isOn ? 'border-accent bg-accent' : 'border-line-strong bg-surface',
      )}
    >
      <span
        className={cn(
          'absolute top-[2px] left-[2px] size-3.5 rounded-full transition-transform',
          isOn ? 'translate-x-4 bg-on-accent' : 'bg-line-strong',
        )}
      />
    </button>
  )
}
