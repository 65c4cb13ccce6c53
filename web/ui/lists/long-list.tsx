import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'

type Props<T> = {
  items: T[]
  keyOf: (item: T) => string
  /** About how high a row is, in pixels; each is measured when it is shown. */
  height: number
  /** The item to bring into view. */
  open?: string | undefined
  /** The name of a list without anything to press: it takes the focus itself, to be scrolled by the keyboard. */
  label?: string
  children: (item: T) => ReactNode
}

/** Rows above and below what is seen, so that Tab and a quick wheel find the next one. */
const OVERSCAN = 12
/** A page that is busy, with a map that begins, say, gives up a scroll that takes too long; it is asked again. */
const TRY_MS = 300
const MAX_TRIES = 20

/** A list that scrolls and has only the rows that are seen in the page: thousands cost no more than a screenful. */
export function LongList<T>({ items, keyOf, height, open, label, children }: Props<T>) {
  const place = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => place.current,
    estimateSize: () => height,
    getItemKey: (at) => keyOf(items[at] as T), // safe: at is below their count
    overscan: OVERSCAN,
  })
  const at = open === undefined ? -1 : items.findIndex((item) => keyOf(item) === open)
  useEffect(() => {
    if (at < 0) return
    let tries = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const bring = () => {
      rows.scrollToIndex(at, { align: 'auto' })
      tries += 1
      timer = setTimeout(() => {
        if (tries < MAX_TRIES && !rows.getVirtualItems().some(({ index }) => index === at)) bring()
      }, TRY_MS)
    }
    bring()
    return () => clearTimeout(timer)
  }, [at, rows])
  return (
    <div
      ref={place}
      {...(label ? { role: 'region', 'aria-label': label, tabIndex: 0 } : {})}
      className="min-h-0 flex-1 overflow-y-auto"
    >
      <ul className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const item = items[index]
          return item === undefined ? null : (
            <li
              key={key}
              ref={rows.measureElement}
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={items.length}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              {children(item)}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
