import { useText } from '../../../../../web/ui/language.ts'
import { peopleText } from './people.text.ts'

/** What an erasure leaves, in sentences of the hub. */
export function Stays({ stays }: { stays: string[] }) {
  const text = useText(peopleText)
  return (
    <>
      <h4 className="mt-3 text-sm font-medium">{text.stays}</h4>
      <ul className="mt-1 list-disc pl-5 text-sm text-muted marker:text-muted">
        {stays.map((one) => (
          <li key={one} className="text-pretty">
            {one}
          </li>
        ))}
      </ul>
    </>
  )
}
