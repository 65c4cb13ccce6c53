import {
  type ComponentProps,
  type ReactNode,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { cn } from '../class-names.ts'
import { ErrorLine, Input, useControl, useFieldLabel } from '../field.tsx'
import { useText } from '../language.ts'
import { useWords } from '../words.tsx'
import { ChooseDay } from './choose-day.tsx'
import { datesText } from './dates.text.ts'
import { readDay, readTime, showDay, showTime } from './written.ts'

type Props = Omit<ComponentProps<typeof Input>, 'value' | 'defaultValue' | 'onChange' | 'min'> & {
  /** Absent where the form reads the value by its name. */
  value?: string
  /** Gets the value once its field is left or Enter is pressed; an empty text for none. */
  onChange?: (value: string) => void
}

/** A day, `2026-11-27`, written as the language of the page writes it. `min` is the first that is allowed. */
export function DateInput({ min, ...rest }: Props & { min?: string }) {
  const text = useText(datesText)
  const { locale } = useWords()
  const example = showDay(`${new Date().getFullYear()}-12-31`, locale)
  return (
    <WrittenInput
      {...rest}
      inputMode="numeric"
      example={example}
      show={(value) => showDay(value, locale)}
      read={(written) => readDay(written, locale)}
      unreadable={(label) => text.unreadable_day(label, example)}
      refused={(value, label) =>
        min && value < min ? text.too_early(label, showDay(min, locale)) : undefined
      }
      chooser={(value, choose) => (
        <ChooseDay value={value} min={min} isDisabled={rest.disabled ?? false} onChoose={choose} />
      )}
    />
  )
}

/** A time of day, `22:30`, written as the language of the page writes it. */
export function TimeInput(props: Props) {
  const text = useText(datesText)
  const { locale } = useWords()
  const example = showTime('22:30', locale)
  return (
    <WrittenInput
      {...props}
      // A time of twelve hours needs letters.
      inputMode={/\p{L}/u.test(example) ? 'text' : 'numeric'}
      example={example}
      show={(value) => showTime(value, locale)}
      read={readTime}
      unreadable={(label) => text.unreadable_time(label, example)}
    />
  )
}

/**
 * A text that stands for a value. What cannot be read stays as it was typed, with what is wrong below it, and its form
 * cannot be submitted.
 */
function WrittenInput({
  value: given,
  onChange,
  name,
  example,
  show,
  read,
  unreadable,
  refused,
  chooser,
  className,
  ...rest
}: Props & {
  example: string
  show: (value: string) => string
  read: (written: string) => string | undefined
  unreadable: (label: string) => string
  refused?: (value: string, label: string) => string | undefined
  /** What stands in the field to choose a value with. */
  chooser?: (value: string, choose: (value: string) => void) => ReactNode
}) {
  const text = useText(datesText)
  const { name: field, 'aria-describedby': described, ...control } = useControl()
  const fieldLabel = useFieldLabel()
  const errorId = useId()
  const ref = useRef<HTMLInputElement>(null)
  const [own, setOwn] = useState('')
  const [typed, setTyped] = useState<string>()
  const [isTold, setTold] = useState(false)
  const value = given ?? own
  const label = rest['aria-label'] ?? fieldLabel
  const next = typed === undefined ? value : typed.trim() === '' ? '' : read(typed)
  const problem =
    next === undefined ? unreadable(label) : next === '' ? undefined : refused?.(next, label)
  useLayoutEffect(() => ref.current?.setCustomValidity(problem ?? ''), [problem])
  const settle = () => {
    if (typed === undefined || next === undefined || problem) return setTold(problem !== undefined)
    take(next)
  }
  const take = (chosen: string) => {
    setTyped(undefined)
    setTold(false)
    setOwn(chosen)
    if (chosen !== value) onChange?.(chosen)
  }
  const isWrong = isTold && problem !== undefined
  const describedBy = [isWrong ? errorId : undefined, described].filter(Boolean).join(' ')
  return (
    <div className="flex flex-col gap-1">
      <span className={cn('relative', className)}>
        <Input
          {...control}
          {...rest}
          ref={ref}
          className={chooser ? 'pr-9' : ''}
          name={undefined}
          placeholder={rest.disabled ? undefined : text.example(example)}
          spellCheck={false}
          aria-describedby={describedBy || undefined}
          aria-invalid={isWrong || control['aria-invalid']}
          value={typed ?? show(value)}
          onChange={({ target }) => setTyped(target.value)}
          onBlur={settle}
          onKeyDown={({ key }) => {
            if (key === 'Enter') settle()
          }}
          onInvalid={(event) => {
            // The sentence below is in the language of the page; the browser's bubble is not.
            event.preventDefault()
            setTold(true)
          }}
        />
        {chooser?.(next && !problem ? next : value, take)}
      </span>
      {name || field ? <input type="hidden" name={name ?? field} value={next ?? ''} /> : null}
      {isWrong ? <ErrorLine id={errorId} text={problem} /> : null}
    </div>
  )
}
