import { Search } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { cn } from './class-names.ts'
import { Layer, useIsPhone } from './layer.tsx'
import { Spinner } from './states.tsx'
import { useWords } from './words.tsx'

type Command = {
  id: string
  icon?: ReactNode
  title: string
  detail?: string | undefined
  hint?: ReactNode
  onRun: () => void
}
type CommandGroup = { label: string; commands: Command[] }

type Props = {
  isOpen: boolean
  onClose: () => void
  label: string
  placeholder: string
  query: string
  onQuery: (query: string) => void
  groups: CommandGroup[]
  isLoading: boolean
  nothing: string
  footer?: ReactNode
}

/** Finds things to open and to do by typing: a combobox over groups of options. */
export function CommandMenu({ isOpen, onClose, label, ...rest }: Props) {
  const isPhone = useIsPhone()
  return (
    <Layer
      isOpen={isOpen}
      onClose={onClose}
      label={label}
      isForgetful
      className={cn(
        'fixed mx-auto mb-auto w-full max-w-2xl overflow-hidden bg-raised p-0 text-fg shadow-panel outline-none layer-center',
        isPhone
          ? 'mt-0 max-h-dvh max-w-none rounded-b-panel'
          : 'mt-[12vh] max-h-[70vh] rounded-panel',
      )}
    >
      <Inside label={label} onClose={onClose} {...rest} />
    </Layer>
  )
}

function Inside(props: Omit<Props, 'isOpen'>) {
  const { label, placeholder, query, onQuery, groups, isLoading, nothing, footer, onClose } = props
  const id = useId()
  const words = useWords()
  const list = useRef<HTMLDivElement>(null)
  const [chosen, setChosen] = useState(0)
  const commands = groups.flatMap((group) => group.commands)
  const at = Math.min(chosen, Math.max(0, commands.length - 1))

  // biome-ignore lint/correctness/useExhaustiveDependencies: another query starts at the top again
  useEffect(() => setChosen(0), [query])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen option has moved
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at, query])

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((at + step + commands.length) % Math.max(1, commands.length))
    }
    const command = commands[at]
    if (event.key === 'Enter' && command && !event.nativeEvent.isComposing) {
      event.preventDefault()
      onClose()
      command.onRun()
    }
  }

  let index = -1
  return (
    <div className="flex max-h-[inherit] flex-col">
      <div className="flex items-center gap-3 border-b border-line px-4">
        <Search size={16} className="shrink-0 text-muted" aria-hidden />
        <input
          // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here
          autoFocus
          data-first
          type="text"
          role="combobox"
          aria-label={label}
          aria-expanded={commands.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={commands.length > 0 ? `${id}-${at}` : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder}
          value={query}
          onChange={(event) => onQuery(event.target.value)}
          onKeyDown={onKeyDown}
          className="h-12 w-full bg-transparent text-lg outline-none"
        />
        {isLoading ? <Spinner label={words.loading} /> : null}
      </div>
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label={label}
        className="min-h-0 flex-1 overflow-y-auto p-2"
      >
        {groups.map((group) =>
          group.commands.length === 0 ? null : (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is not a group of options
            <div key={group.label} role="group" aria-label={group.label} className="pb-1">
              <p aria-hidden className="px-2 pt-2 pb-1 text-xs font-medium text-muted">
                {group.label}
              </p>
              {group.commands.map((command) => {
                index += 1
                const here = index
                return (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keyboard
                  <div
                    key={command.id}
                    id={`${id}-${here}`}
                    role="option"
                    tabIndex={-1}
                    aria-selected={here === at}
                    onPointerMove={() => setChosen(here)}
                    onClick={() => {
                      onClose()
                      command.onRun()
                    }}
                    className={cn(
                      'flex min-h-10 cursor-pointer items-center gap-3 rounded-control px-2 py-1.5',
                      here === at && 'bg-hover',
                    )}
                  >
                    <span className="flex w-4 shrink-0 justify-center text-muted">
                      {command.icon}
                    </span>
                    <span className="min-w-0 flex-1 truncate">
                      {command.title}
                      {command.detail ? (
                        <span className="ml-2 text-muted">{command.detail}</span>
                      ) : null}
                    </span>
                    {command.hint ? (
                      <span className="shrink-0 text-xs text-muted">{command.hint}</span>
                    ) : null}
                  </div>
                )
              })}
            </div>
          ),
        )}
        {commands.length === 0 && !isLoading ? (
          <p className="px-2 py-8 text-center text-muted">{nothing}</p>
        ) : null}
      </div>
      {footer ? (
        <div className="hidden items-center gap-4 border-t border-line px-4 py-2 text-xs text-muted md:flex">
          {footer}
        </div>
      ) : null}
    </div>
  )
}
