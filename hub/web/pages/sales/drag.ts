import { type PointerEvent as ReactPointerEvent, useEffect, useRef } from 'react'
import { STAGES, type Stage } from '../leads/stage.tsx'

const FAR_PX = 5
/** A finger that rests picks a card up; one that moves scrolls. */
const REST_MS = 260
const EDGE_PX = 72

type Handlers = {
  isEnabled: boolean
  onOver: (id: string, over: Stage | undefined) => void
  /** `over` is absent if the card was dropped next to the board. */
  onEnd: (id: string, over: Stage | undefined) => void
}
type Drag = {
  id: string
  pointer: number
  x: number
  y: number
  card: HTMLElement
  ghost: HTMLElement | undefined
  timer: ReturnType<typeof setTimeout> | undefined
}

/** useDrag moves cards between columns by pointer; it returns the onPointerDown of a card. */
export function useDrag(handlers: Handlers): (event: ReactPointerEvent, id: string) => void {
  const latest = useRef(handlers)
  latest.current = handlers
  const current = useRef<Drag>(undefined)

  useEffect(() => {
    const end = (over: Stage | undefined) => {
      const drag = current.current
      if (!drag) return
      current.current = undefined
      clearTimeout(drag.timer)
      if (!drag.ghost) return
      drag.ghost.remove()
      document.documentElement.classList.remove('dragging')
      swallowClick()
      latest.current.onEnd(drag.id, over)
    }
    const onMove = (event: PointerEvent) => {
      const drag = current.current
      if (!drag || event.pointerId !== drag.pointer) return
      const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > FAR_PX
      if (!drag.ghost) {
        if (!far) return
        // A finger that moves before it has rested scrolls.
        if (event.pointerType === 'touch') return end(undefined)
        lift(drag)
      }
      drag.ghost?.style.setProperty(
        'transform',
        `translate(${event.clientX - drag.x}px, ${event.clientY - drag.y}px) rotate(1.5deg)`,
      )
      scrollAtEdge(drag.card, event.clientX)
      latest.current.onOver(drag.id, stageAt(event))
    }
    const onUp = (event: PointerEvent) => {
      if (event.pointerId === current.current?.pointer) end(stageAt(event))
    }
    const onCancel = () => {
      const drag = current.current
      if (drag?.ghost) latest.current.onOver(drag.id, undefined)
      end(undefined)
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') onCancel()
    }
    const onTouch = (event: TouchEvent) => {
      if (current.current?.ghost) event.preventDefault()
    }
    addEventListener('pointermove', onMove)
    addEventListener('pointerup', onUp)
    addEventListener('pointercancel', onCancel)
    addEventListener('keydown', onKey)
    addEventListener('touchmove', onTouch, { passive: false })
    return () => {
      end(undefined)
      removeEventListener('pointermove', onMove)
      removeEventListener('pointerup', onUp)
      removeEventListener('pointercancel', onCancel)
      removeEventListener('keydown', onKey)
      removeEventListener('touchmove', onTouch)
    }
  }, [])

  return (event, id) => {
    if (!latest.current.isEnabled || event.button !== 0 || current.current) return
    if (!(event.currentTarget instanceof HTMLElement)) return
    const drag: Drag = {
      id,
      pointer: event.pointerId,
      x: event.clientX,
      y: event.clientY,
      card: event.currentTarget,
      ghost: undefined,
      timer: undefined,
    }
    if (event.pointerType === 'touch') drag.timer = setTimeout(() => lift(drag), REST_MS)
    current.current = drag
  }
}

/** A copy of the card follows the pointer. */
function lift(drag: Drag): void {
  const { card } = drag
  const box = card.getBoundingClientRect()
  const ghost = card.cloneNode(true) as HTMLElement // safe: a clone of an HTMLElement
  ghost.removeAttribute('data-card')
  ghost.setAttribute('aria-hidden', 'true')
  Object.assign(ghost.style, {
    position: 'fixed',
    left: `${box.left}px`,
    top: `${box.top}px`,
    width: `${box.width}px`,
    zIndex: '40',
    pointerEvents: 'none',
    boxShadow: 'var(--shadow)',
  })
  document.body.append(ghost)
  document.documentElement.classList.add('dragging')
  drag.ghost = ghost
}

function stageAt({ clientX, clientY }: PointerEvent): Stage | undefined {
  const column = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-stage]')
  return STAGES.find((stage) => stage === column?.dataset.stage)
}

function scrollAtEdge(card: HTMLElement, x: number): void {
  const board = card.closest('section')
  if (!board) return
  const { left, right } = board.getBoundingClientRect()
  if (x > right - EDGE_PX) board.scrollLeft += 16
  if (x < left + EDGE_PX) board.scrollLeft -= 16
}

/** The click at the end of a drag must not open the card. */
function swallowClick(): void {
  const swallow = (event: MouseEvent) => event.stopPropagation()
  addEventListener('click', swallow, { capture: true, once: true })
  setTimeout(() => removeEventListener('click', swallow, { capture: true }), 0)
}
