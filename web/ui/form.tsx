import { CircleAlert } from 'lucide-react'
import {
  type ComponentProps,
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { Button } from './button.tsx'
import { cn } from './class-names.ts'
import { ErrorLine, Field } from './field.tsx'

/** Why a form was refused: messages by field, and one for the form as a whole. */
export type FormFailure = { fields: Record<string, string>; whole: ReactNode }

type State = { failure: FormFailure | undefined; isPending: boolean }
const FormContext = createContext<State>({ failure: undefined, isPending: false })

type Props = {
  /** Receives the trimmed texts by name; errors that it throws go to `explain`. */
  onSubmit: (values: Record<string, string>) => Promise<unknown>
  explain: (error: unknown, names: string[]) => FormFailure
  className?: string
  children: ReactNode
}

/** A form that shows errors at their fields; the first of them gets the focus. */
export function Form({ onSubmit, explain, className, children }: Props) {
  const [state, setState] = useState<State>({ failure: undefined, isPending: false })
  const ref = useRef<HTMLFormElement>(null)
  const { failure } = state
  useEffect(() => {
    if (!failure) return
    const wrong = ref.current?.querySelector<HTMLElement>('[aria-invalid=true], [data-invalid]')
    const folded = wrong?.closest('details')
    if (folded) folded.open = true
    wrong?.focus()
  }, [failure])
  const submit = async (form: HTMLFormElement) => {
    const values: Record<string, string> = {}
    for (const [name, value] of new FormData(form)) {
      if (typeof value === 'string') values[name] = value.trim()
    }
    setState({ failure: undefined, isPending: true })
    try {
      await onSubmit(values)
      setState({ failure: undefined, isPending: false })
    } catch (error) {
      setState({ failure: explain(error, Object.keys(values)), isPending: false })
    }
  }
  return (
    <form
      ref={ref}
      noValidate
      className={className}
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        if (!state.isPending && isReadable(event.currentTarget)) void submit(event.currentTarget)
      }}
    >
      <FormContext value={state}>{children}</FormContext>
    </form>
  )
}

/** Whether each control can read what was typed into it; the first that cannot gets the focus, and all say why. */
export function isReadable(form: HTMLFormElement): boolean {
  const unread = [...form.elements].flatMap((control) =>
    control instanceof HTMLInputElement && control.validity.customError ? [control] : [],
  )
  for (const control of unread) control.checkValidity()
  unread[0]?.focus()
  return unread.length === 0
}

/** A Field that shows the form's error for its name. */
export function FormField({ name, ...rest }: ComponentProps<typeof Field> & { name: string }) {
  const { failure } = useContext(FormContext)
  return <Field name={name} error={failure?.fields[name]} {...rest} />
}

/**
 * Controls that are one value of the API together; an error about the value as a whole stands below them. They have
 * names of their own, or none.
 */
export function FormGroup({
  name,
  label,
  className,
  children,
}: {
  name: string
  label: ReactNode
  className?: string
  children: ReactNode
}) {
  const id = useId()
  const { failure } = useContext(FormContext)
  const error = failure?.fields[name]
  return (
    <fieldset
      className={cn('flex min-w-0 flex-col gap-2 rounded-control', className)}
      aria-describedby={error ? id : undefined}
      // Takes the focus of a form that was refused for it.
      tabIndex={error ? -1 : undefined}
      data-invalid={error ? true : undefined}
    >
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {/* Names the value to the form, which says what is refused. */}
      <input type="hidden" name={name} />
      {children}
      {error ? <ErrorLine id={id} text={error} /> : null}
    </fieldset>
  )
}

/** The form's error that belongs to no field. */
export function FormError({ className }: { className?: string }) {
  const { failure } = useContext(FormContext)
  if (!failure?.whole) return null
  return <Notice tone="bad" className={className} text={failure.whole} />
}

/** A sentence in a box. */
export function Notice({
  tone = 'plain',
  text,
  action,
  className = '',
}: {
  tone?: 'plain' | 'warn' | 'bad'
  text: ReactNode
  action?: ReactNode
  className?: string | undefined
}) {
  const look = { plain: 'border-line', warn: 'border-warn/50', bad: 'border-bad/50' }[tone]
  const mark = { plain: 'text-muted', warn: 'text-warn', bad: 'text-bad' }[tone]
  return (
    <div
      role={tone === 'bad' ? 'alert' : undefined}
      className={`flex flex-wrap items-start gap-2 rounded-control border px-3 py-2 ${look} ${className}`}
    >
      <CircleAlert size={16} className={`mt-0.5 shrink-0 ${mark}`} aria-hidden />
      <div className={`min-w-0 flex-1 text-pretty break-words ${action ? 'basis-56' : ''}`}>
        {text}
      </div>
      {action}
    </div>
  )
}

/** The button that submits its form. */
export function Submit({ children, ...rest }: ComponentProps<typeof Button>) {
  const { isPending } = useContext(FormContext)
  return (
    <Button type="submit" variant="primary" isPending={isPending} {...rest}>
      {children}
    </Button>
  )
}
