import { useId } from 'react'
import type { Channel } from '../../api/queries.ts'
import { Checkbox } from '../../ui/field.tsx'
import { useText } from '../../ui/language.ts'
import { escalationText } from './escalation.text.ts'

/** Channels to choose from; one that is chosen and not among them stays, until it is taken away. */
export function ChannelChoices({
  label,
  channels,
  chosen,
  onChange,
}: {
  label: string
  /** Undefined while they are not known. */
  channels: readonly Channel[] | undefined
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}) {
  const text = useText(escalationText)
  const group = useId()
  if (!channels) return null
  const gone = chosen.filter((id) => channels.every((channel) => channel.id !== id))
  const offered = [
    ...channels.map(({ id, label, kind }) => ({ id, name: label ?? kind })),
    ...gone.map((id) => ({ id, name: text.gone(id.slice(0, 8)) })),
  ]
  return (
    <ul className="flex flex-col gap-1" aria-label={label}>
      {offered.map(({ id, name }) => (
        <li key={id}>
          <label htmlFor={`${group}-${id}`} className="flex items-center gap-2">
            <Checkbox
              id={`${group}-${id}`}
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
              }
            />
            <span className="min-w-0 truncate">{name}</span>
          </label>
        </li>
      ))}
    </ul>
  )
}
