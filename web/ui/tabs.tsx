import * as Primitive from 'radix-ui/tabs'
import type { ReactNode } from 'react'

export type Tab = { value: string; label: string; count?: number; content: ReactNode }

/** Tabs with a line under the chosen one. */
export function Tabs({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string
  tabs: Tab[]
  value: string
  onChange: (value: string) => void
}) {
  return (
    <Primitive.Root value={value} onValueChange={onChange} className="flex min-h-0 flex-1 flex-col">
      <Primitive.List
        aria-label={label}
        className="flex shrink-0 gap-1 scroll-px-5 overflow-x-auto border-b border-line px-3.5 [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <Primitive.Trigger
            key={tab.value}
            value={tab.value}
            className="-mb-px flex shrink-0 items-center whitespace-nowrap gap-1.5 border-b-2 border-transparent px-1.5 py-2 font-medium text-muted -outline-offset-2 hover:text-fg data-[state=active]:border-fg data-[state=active]:text-fg"
          >
            {tab.label}
            {tab.count ? <span className="text-xs text-muted">{tab.count}</span> : null}
          </Primitive.Trigger>
        ))}
      </Primitive.List>
      {tabs.map((tab) => (
        <Primitive.Content
          key={tab.value}
          value={tab.value}
          className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
        >
          {tab.content}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  )
}
