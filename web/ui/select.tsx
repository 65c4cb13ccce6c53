import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import { cn } from './class-names.ts'
import { controlClass, useControl } from './field.tsx'

export type Option = { value: string; label: string }

/**
 * A choice of a few options. It is the platform's own control with our style, so it works with
 * every keyboard and phone.
 */
export function Select({
  options,
  className,
  ...rest
}: Omit<ComponentProps<'select'>, 'children'> & { options: readonly Option[] }) {
  return (
    <span className={cn('relative inline-flex', className)}>
      <select
        {...useControl()}
        {...rest}
        className={cn(
          controlClass,
          // A long value ends before the arrow.
          'select-control h-8 items-center overflow-clip pr-8 text-ellipsis whitespace-nowrap [overflow-clip-margin:content-box] pointer-coarse:h-10',
        )}
      >
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <ChevronDown
        size={14}
        aria-hidden
        className="pointer-events-none absolute top-1/2 right-2.5 -translate-y-1/2 text-muted"
      />
    </span>
  )
}
