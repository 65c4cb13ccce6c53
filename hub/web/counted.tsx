import { type ComponentProps, useId, useState } from 'react'
import { cn } from '../../web/ui/class-names.ts'
import { Textarea, useControl } from '../../web/ui/field.tsx'
import { number, useLanguage, useText } from '../../web/ui/language.ts'
import { common } from './common.text.ts'
import { countOf } from './count.ts'

/**
 * A text field that counts down to its limit and says when a text is too long, before it is sent.
 * Nothing that was pasted is cut off in silence.
 */
export function CountedTextarea({
  limit,
  onChange,
  ...rest
}: ComponentProps<'textarea'> & { limit: number }) {
  const { limits: text } = useText(common)
  const language = useLanguage()
  const id = useId()
  const [typed, setTyped] = useState(String(rest.defaultValue ?? ''))
  const control = useControl()
  const count = countOf(String(rest.value ?? typed), limit)
  const say = (n: number) => number(language, n)
  const words = () => {
    if (count.over > 0) return text.over(say(count.over), say(limit))
    if (count.left === limit) return text.up_to(say(limit))
    return text.left(say(count.left), say(limit))
  }
  return (
    <>
      <Textarea
        {...rest}
        aria-describedby={[control['aria-describedby'], id].filter(Boolean).join(' ')}
        {...(count.over > 0 ? { 'aria-invalid': true } : {})}
        onChange={(event) => {
          setTyped(event.target.value)
          onChange?.(event)
        }}
      />
      <p
        id={id}
        aria-live={count.isNear ? 'polite' : 'off'}
        className={cn('text-sm', count.over > 0 ? 'text-bad' : 'text-muted')}
        data-numbers
      >
        {words()}
      </p>
    </>
  )
}
