import { Check, CircleAlert, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react'
import { IconButton } from './button.tsx'
import { useWords } from './words.tsx'

type Toast = {
  id: number
  kind: 'done' | 'failed'
  text: string
  /** Instead of the mark of its kind. */
  mark?: ReactNode
  action?: { label: string; onClick: () => void }
  /** Takes the place of the one with the same topic: the newest says enough. */
  topic?: string
}

const SHOWN_MS = 6_000
let toasts: readonly Toast[] = []
let next = 1
const listeners = new Set<() => void>()
const set = (value: readonly Toast[]) => {
  toasts = value
  for (const listener of listeners) listener()
}
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** toast shows a message for six seconds; `action` is usually "Undo". */
export function toast(text: string, options: Partial<Omit<Toast, 'id' | 'text'>> = {}): void {
  const { topic } = options
  const others = topic ? toasts.filter((one) => one.topic !== topic) : toasts
  set([...others.slice(-2), { id: next++, kind: 'done', text, ...options }])
}

function dismiss(id: number): void {
  set(toasts.filter((one) => one.id !== id))
}

/** The place of the toasts; used once per page. */
export function Toaster() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  const ref = useRef<HTMLDivElement>(null)
  const newest = shown.at(-1)?.id
  useEffect(() => {
    const region = ref.current
    if (!region || newest === undefined) return
    // Shown again so that it is above a dialog that was opened meanwhile.
    region.showPopover()
    return () => region.hidePopover()
  }, [newest])
  return (
    <div
      ref={ref}
      popover="manual"
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 top-auto bottom-20 m-0 mx-auto w-full max-w-md overflow-visible bg-transparent p-3 md:bottom-4"
    >
      <div className="flex flex-col gap-2">
        {shown.map((one) => (
          <Note key={one.id} {...one} />
        ))}
      </div>
    </div>
  )
}

function Note({ id, kind, text, mark, action }: Toast) {
  const words = useWords()
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [id])
  return (
    <div className="pointer-events-auto flex items-center gap-3 rounded-panel bg-raised py-2 pr-2 pl-3 text-fg shadow-panel">
      {mark ??
        (kind === 'done' ? (
          <Check size={16} className="shrink-0 text-good" aria-hidden />
        ) : (
          <CircleAlert size={16} className="shrink-0 text-bad" aria-hidden />
        ))}
      <p className="min-w-0 flex-1 break-words">{text}</p>
      {action ? (
        <button
          type="button"
          onClick={() => {
            action.onClick()
            dismiss(id)
          }}
          className="rounded-control px-2 py-1 font-medium text-accent-text hover:bg-hover"
        >
          {action.label}
        </button>
      ) : null}
      <IconButton label={words.dismiss} onClick={() => dismiss(id)}>
        <X size={14} aria-hidden />
      </IconButton>
    </div>
  )
}
