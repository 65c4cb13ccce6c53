import { Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { flushSync } from 'react-dom'
import { Button, IconButton } from '../../ui/button.tsx'

type Row = {
  key: number
  label: string
  /** The name of its button. */
  remove: string
  onRemove: () => void
  children: ReactNode
}

/** Rows that are added and removed; the focus goes to the new row, and to the button when one is gone. */
export function Rows({
  rows,
  add,
  limit,
  hint,
  onAdd,
}: {
  rows: Row[]
  add: string
  /** Why no other one can be added. */
  limit: string | undefined
  hint: string | undefined
  onAdd: () => void
}) {
  const list = useRef<HTMLOListElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const onAdded = () => {
    flushSync(onAdd)
    list.current?.lastElementChild?.querySelector<HTMLElement>('input:not([type=hidden])')?.focus()
  }
  return (
    <>
      {rows.length > 0 ? (
        <ol ref={list} className="flex flex-col gap-2">
          {rows.map(({ key, label, remove, onRemove, children }) => (
            <li key={key} className="rounded-panel border border-line p-3">
              <div className="mb-1 flex items-center justify-between gap-2">
                <h3 className="text-sm font-semibold">{label}</h3>
                <IconButton
                  label={remove}
                  onClick={() => {
                    flushSync(onRemove)
                    button.current?.focus()
                  }}
                >
                  <Trash2 size={16} aria-hidden />
                </IconButton>
              </div>
              {children}
            </li>
          ))}
        </ol>
      ) : null}
      <Button
        ref={button}
        size="sm"
        className="self-start"
        disabled={limit !== undefined}
        onClick={onAdded}
        icon={<Plus size={14} aria-hidden />}
      >
        {add}
      </Button>
      {limit || hint ? <p className="text-sm text-muted">{limit ?? hint}</p> : null}
    </>
  )
}
