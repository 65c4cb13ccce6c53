import type { ComponentProps } from 'react'
import { useId } from 'react'
import { Input } from './field.tsx'

/** A time zone by its name, with the known ones offered while it is typed. */
export function TimeZoneInput(props: ComponentProps<typeof Input>) {
  const id = useId()
  return (
    <>
      <Input list={id} spellCheck={false} {...props} />
      <datalist id={id}>
        {Intl.supportedValuesOf('timeZone').map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}
