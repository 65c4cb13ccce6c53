import * as PopoverPrimitive from 'radix-ui/popover'
import type { ReactNode } from 'react'
import { cn } from './class-names.ts'
import { useLayer } from './layer.tsx'
import { PANEL } from './menu.tsx'

/** A floating panel at its trigger, for more than a list of actions. */
export function Popover({
  trigger,
  label,
  children,
  align = 'start',
  className = 'w-80',
  focusesItself = false,
  isOpen,
  onOpenChange,
}: {
  trigger: ReactNode
  label: string
  children: ReactNode
  align?: 'start' | 'end'
  className?: string
  /** Its content takes the focus, once it is there; else its first control gets it. */
  focusesItself?: boolean
  /** Where something in it closes it. */
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
}) {
  const layer = useLayer()
  return (
    <PopoverPrimitive.Root
      {...(isOpen === undefined ? {} : { open: isOpen })}
      {...(onOpenChange ? { onOpenChange } : {})}
    >
      <PopoverPrimitive.Trigger asChild>{trigger}</PopoverPrimitive.Trigger>
      <PopoverPrimitive.Portal container={layer}>
        <PopoverPrimitive.Content
          aria-label={label}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          {...(focusesItself ? { onOpenAutoFocus: (event: Event) => event.preventDefault() } : {})}
          className={cn(PANEL, 'p-3', className)}
        >
          {children}
        </PopoverPrimitive.Content>
      </PopoverPrimitive.Portal>
    </PopoverPrimitive.Root>
  )
}
