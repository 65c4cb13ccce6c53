import { X } from 'lucide-react'
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { Button, IconButton } from './button.tsx'
import { cn } from './class-names.ts'
import { useTyping } from './typing.ts'
import { useWords } from './words.tsx'

const LayerContext = createContext<HTMLElement | null>(null)

/**
 * The open dialog around this component. Floating elements must be inside it, because the rest of
 * the page is inert.
 */
export function useLayer(): HTMLElement | undefined {
  return useContext(LayerContext) ?? undefined
}

const CloseContext = createContext<() => void>(() => {})

/** Closes the layer around this component; first it asks about what was typed there. */
export const useClose = () => useContext(CloseContext)

const phone = '(max-width: 767px)'
const subscribePhone = (changed: () => void) => {
  const query = matchMedia(phone)
  query.addEventListener('change', changed)
  return () => query.removeEventListener('change', changed)
}

/** Whether the page is as narrow as a phone. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribePhone, () => matchMedia(phone).matches)
}

type LayerProps = {
  isOpen: boolean
  onClose: () => void
  label?: string
  labelledBy?: string
  isModal?: boolean
  /** Nothing that is worth a question is typed in it. */
  isForgetful?: boolean
  className: string
  children: ReactNode
}

/**
 * Layer is the browser's own dialog: it traps focus, closes on Esc and returns the focus. A
 * library's scroll lock would add a <style> element, which the content security policy forbids.
 */
export function Layer({
  isOpen,
  onClose,
  label,
  labelledBy,
  isModal = true,
  isForgetful = false,
  className,
  children,
}: LayerProps) {
  const typing = useTyping()
  const [isAsking, setAsking] = useState(false)
  const close = useCallback(() => {
    if (!isForgetful && typing.isLeft()) setAsking(true)
    else onClose()
  }, [isForgetful, typing, onClose])
  const ref = useRef<HTMLDialogElement>(null)
  const [node, setNode] = useState<HTMLElement | null>(null)
  const attach = useCallback((dialog: HTMLDialogElement | null) => {
    ref.current = dialog
    setNode(dialog)
  }, [])
  useEffect(() => {
    const dialog = ref.current
    if (!dialog || !isOpen) return
    const before = document.activeElement
    if (isModal) dialog.showModal()
    else dialog.show()
    // Focus the first field, not the close button. With touch, not even that: it would open the
    // keyboard.
    const isTouch = matchMedia('(pointer: coarse)').matches
    const fields = isTouch ? '[data-first]' : '[data-first], form input, form textarea'
    const field = dialog.querySelector<HTMLElement>(fields)
    if (isModal && field) field.focus()
    else dialog.focus()
    return () => {
      dialog.close()
      setAsking(false)
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [isOpen, isModal])
  return (
    <dialog
      tabIndex={-1}
      ref={attach}
      aria-label={label}
      aria-labelledby={labelledBy}
      aria-modal={isModal || undefined}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        close()
      }}
      // Chromium closes a dialog without asking when Esc is pressed twice.
      onClose={({ target, currentTarget }) => {
        if (target !== currentTarget || !isOpen || currentTarget.open) return
        if (isModal) currentTarget.showModal()
        else currentTarget.show()
        close()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isModal || event.defaultPrevented) return
        event.preventDefault()
        close()
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget && isModal) close()
      }}
      onFocus={(event) => typing.note(event.target)}
      className={cn('layer', className)}
    >
      <LayerContext value={node}>
        <CloseContext value={close}>{isOpen ? children : null}</CloseContext>
      </LayerContext>
      {isOpen && isAsking ? (
        <AskAboutTyped
          onKeep={() => setAsking(false)}
          onDrop={() => {
            setAsking(false)
            onClose()
          }}
        />
      ) : null}
    </dialog>
  )
}

type DialogProps = {
  isOpen: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  size?: 'sm' | 'md' | 'lg'
  /** Nothing that is worth a question is typed in it. */
  isForgetful?: boolean
  children: ReactNode
}
const WIDTHS = { sm: 'md:max-w-md', md: 'md:max-w-xl', lg: 'md:max-w-3xl' }

/** A dialog in the middle of the page; on a phone it slides in from the bottom. */
export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  size = 'sm',
  isForgetful = false,
  children,
}: DialogProps) {
  const id = useId()
  const isPhone = useIsPhone()
  return (
    <Layer
      isOpen={isOpen}
      onClose={onClose}
      labelledBy={id}
      isForgetful={isForgetful}
      className={cn(
        'fixed m-auto w-full max-w-none bg-raised text-fg shadow-panel outline-none',
        isPhone
          ? 'layer-below mb-0 max-h-[92dvh] rounded-t-panel pb-[env(safe-area-inset-bottom)]'
          : 'layer-center max-h-[min(88dvh,56rem)] rounded-panel',
        WIDTHS[size],
      )}
    >
      <header className="sticky top-0 z-10 flex items-start gap-3 bg-raised px-6 pt-5 pb-3">
        <div className="min-w-0 flex-1">
          <h2 id={id} className="text-lg">
            {title}
          </h2>
          {description ? <p className="mt-1 text-muted">{description}</p> : null}
        </div>
        <CloseButton />
      </header>
      <div className="px-6 pt-1 pb-6">{children}</div>
    </Layer>
  )
}

function CloseButton() {
  const words = useWords()
  return (
    <IconButton label={words.close} onClick={useClose()} className="-mr-2 -mt-0.5">
      <X size={16} aria-hidden />
    </IconButton>
  )
}

/** Asks whether what was typed shall be dropped. */
function AskAboutTyped({ onKeep, onDrop }: { onKeep: () => void; onDrop: () => void }) {
  const words = useWords()
  return (
    <Dialog isOpen onClose={onKeep} title={words.drop_title} description={words.drop_text}>
      <Actions>
        <Button variant="danger" onClick={onDrop}>
          {words.drop}
        </Button>
        <Button variant="primary" data-first onClick={onKeep}>
          {words.keep_typing}
        </Button>
      </Actions>
    </Dialog>
  )
}

/** The row of buttons at the end of a dialog or form; the main one is last. */
export function Actions({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <div
      className={cn(
        'mt-6 flex flex-col-reverse gap-2 md:flex-row md:items-center md:justify-end max-md:[&_button]:h-10',
        className,
      )}
    >
      {children}
    </div>
  )
}

type SheetProps = {
  isOpen: boolean
  onClose: () => void
  label: string
  /** Stays open next to the page, which remains usable; on a phone it covers the page. */
  isModeless?: boolean
  children: ReactNode
}

/** A panel at the side; on a phone it slides in from the bottom. */
export function Sheet({ isOpen, onClose, label, isModeless = false, children }: SheetProps) {
  const isPhone = useIsPhone()
  return (
    <Layer
      isOpen={isOpen}
      onClose={onClose}
      label={label}
      isModal={isPhone || !isModeless}
      // A panel saves each field by itself, and keeps what is not saved.
      isForgetful
      className={cn(
        'fixed z-20 m-0 flex-col overflow-hidden bg-raised p-0 text-fg shadow-panel outline-none open:flex',
        isPhone
          ? 'layer-below inset-x-0 top-auto bottom-0 h-[92dvh] max-h-none w-full max-w-none rounded-t-panel'
          : 'layer-side top-2 right-2 bottom-2 left-auto h-auto max-h-none w-[min(30rem,44vw)] max-w-none rounded-panel',
      )}
    >
      {children}
    </Layer>
  )
}
