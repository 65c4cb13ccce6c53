import { Input } from '../../web/ui/field.tsx'

/** A colour as #rrggbb. */
export const COLOUR = /^#[0-9a-f]{6}$/i

/** A colour, chosen or typed as #rrggbb. */
export function ColourInput({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (colour: string) => void
}) {
  return (
    <div className="flex gap-2">
      <span className="relative size-8 shrink-0 overflow-hidden rounded-control border border-line pointer-coarse:size-10">
        <input
          type="color"
          aria-label={label}
          value={COLOUR.test(value) ? value : '#000000'}
          onChange={(event) => onChange(event.target.value)}
          className="absolute -inset-2 size-14 cursor-pointer border-0 p-0"
        />
      </span>
      <Input
        value={value}
        maxLength={7}
        spellCheck={false}
        className="font-mono"
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}
