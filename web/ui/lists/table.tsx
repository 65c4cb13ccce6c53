import type { ComponentProps } from 'react'
import { cn } from '../class-names.ts'

/** A table whose head stays visible. It scrolls sideways by itself, so the page never does. */
export function Table({ className, ...rest }: ComponentProps<'table'>) {
  return <table {...rest} className={cn('w-full border-separate border-spacing-0', className)} />
}

export function Th({ className, ...rest }: ComponentProps<'th'>) {
  return (
    <th
      scope="col"
      {...rest}
      className={cn(
        'sticky top-0 z-10 h-9 border-b border-line bg-ink px-3 text-left text-xs font-medium text-muted',
        className,
      )}
    />
  )
}

export function Td({ className, ...rest }: ComponentProps<'td'>) {
  return (
    <td
      {...rest}
      className={cn('h-11 border-b border-line px-3 align-middle group-hover:bg-hover', className)}
    />
  )
}
