import { Check } from 'lucide-react'
import * as DropdownMenu from 'radix-ui/dropdown-menu'
import type { ReactNode } from 'react'
import { cn } from './class-names.ts'
import { useLayer } from './layer.tsx'

export type MenuItem =
  | { kind: 'line' }
  | { kind: 'label'; label: string }
  | {
      kind?: 'item'
      label: string
      icon?: ReactNode
      hint?: ReactNode
      isChecked?: boolean
      isDanger?: boolean
      isDisabled?: boolean
      onSelect: () => void
    }

/** The look of what floats at its trigger. */
export const PANEL =
  'z-50 min-w-52 max-w-80 overflow-y-auto rounded-panel bg-raised p-1 text-fg shadow-panel'

/**
 * Menu opens a list of actions at its trigger. It is not modal: that would lock scrolling with a
 * <style> element.
 */
export function Menu({
  trigger,
  items,
  align = 'start',
  className,
}: {
  trigger: ReactNode
  items: MenuItem[]
  align?: 'start' | 'end'
  className?: string
}) {
  const layer = useLayer()
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={layer}>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className={cn(PANEL, className)}
          style={{ maxHeight: 'var(--radix-dropdown-menu-content-available-height)' }}
        >
          {items.map((item, at) => {
            if (item.kind === 'line') {
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: a separator has no identity
                <DropdownMenu.Separator key={at} className="-mx-1 my-1 h-px bg-line" />
              )
            }
            if (item.kind === 'label') {
              return (
                <DropdownMenu.Label key={item.label} className="px-2 pt-2 pb-1 text-xs text-muted">
                  {item.label}
                </DropdownMenu.Label>
              )
            }
            return (
              <DropdownMenu.Item
                key={item.label}
                disabled={item.isDisabled}
                onSelect={item.onSelect}
                className={cn(
                  'flex min-h-8 cursor-pointer items-center gap-2 rounded-control px-2 py-1 outline-none data-[disabled]:cursor-default data-[highlighted]:bg-hover data-[disabled]:opacity-50 pointer-coarse:min-h-10',
                  item.isDanger && 'text-bad',
                )}
              >
                {item.icon ? <span className="flex text-muted">{item.icon}</span> : null}
                <span className="min-w-0 flex-1 truncate">{item.label}</span>
                {item.hint ? <span className="text-xs text-muted">{item.hint}</span> : null}
                {item.isChecked ? (
                  <Check size={14} className="text-accent-text" aria-hidden />
                ) : null}
              </DropdownMenu.Item>
            )
          })}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
