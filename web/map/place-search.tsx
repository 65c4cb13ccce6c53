import { Search } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { cn } from '../ui/class-names.ts'
import { controlClass } from '../ui/field.tsx'
import { useLanguage, useText } from '../ui/language.ts'
import { placeText } from './place.text.ts'
import { loadPlaces, type Place } from './places.ts'

const MAX_FOUND = 8

/** A field that finds cities by their names as they are typed: a combobox with a list of them. */
export function PlaceSearch({
  onPlace,
  className,
}: {
  onPlace: (place: Place) => void
  className?: string
}) {
  const text = useText(placeText)
  const language = useLanguage()
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [typed, setTyped] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const [chosen, setChosen] = useState(0)
  const { found, isFailed } = useFound(typed)
  const countries = new Intl.DisplayNames(language, { type: 'region', fallback: 'code' })
  const isShown = isOpen && typed.trim() !== ''
  const options = isShown ? (found ?? []) : []

  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen option has moved
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen, found])

  const choose = (place: Place | undefined) => {
    if (!place) return
    setTyped(place.name)
    setIsOpen(false)
    onPlace(place)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setIsOpen(true)
      if (options.length > 0) setChosen((chosen + step + options.length) % options.length)
    }
    // Of the field, also with nothing found: it stands in a form that would be sent.
    if (event.key === 'Enter') {
      event.preventDefault()
      choose(options[chosen])
    }
    if (event.key === 'Escape' && isShown) {
      event.stopPropagation()
      setIsOpen(false)
    }
  }
  return (
    <search
      className={cn('relative', className)}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setIsOpen(false)
      }}
    >
      <Search
        size={14}
        className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-muted"
        aria-hidden
      />
      <input
        type="text"
        role="combobox"
        aria-label={text.label}
        aria-autocomplete="list"
        aria-expanded={options.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={options.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder={text.label}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onFocus={() => void loadPlaces().catch(() => undefined)}
        onChange={({ target }) => {
          setTyped(target.value)
          setChosen(0)
          setIsOpen(true)
        }}
        onKeyDown={onKeyDown}
        className={cn(controlClass, 'h-8 pl-8 pointer-coarse:h-10')}
      />
      <div
        className={cn(
          'absolute inset-x-0 top-full z-20 mt-1 overflow-hidden rounded-control bg-raised shadow-panel',
          !isShown && 'hidden',
        )}
      >
        <div
          ref={list}
          id={`${id}-list`}
          role="listbox"
          aria-label={text.found}
          className="max-h-72 overflow-y-auto"
        >
          {options.map((place, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keyboard
            <div
              key={`${place.name} ${place.lat} ${place.lon}`}
              id={`${id}-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === chosen}
              onPointerMove={() => setChosen(at)}
              // The focus stays in the field.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => choose(place)}
              className={cn('cursor-pointer px-3 py-1.5', at === chosen && 'bg-hover')}
            >
              <span translate="no">{place.name}</span>{' '}
              <span className="text-sm text-muted">{countries.of(place.country)}</span>
            </div>
          ))}
        </div>
        <p role="status" className={cn('text-sm text-muted', !isShown && 'hidden')}>
          {isFailed || found?.length === 0 ? (
            <span className="block px-3 py-2">{isFailed ? text.failed : text.none}</span>
          ) : null}
        </p>
        <p className="border-t border-line px-3 py-1 text-xs text-muted">
          {text.by}{' '}
          <a
            href="https://www.geonames.org/"
            target="_blank"
            rel="noreferrer noopener"
            className="underline"
          >
            GeoNames
          </a>{' '}
          (CC BY 4.0)
        </p>
      </div>
    </search>
  )
}

/** The places of what is typed; undefined until the list of them has come. */
function useFound(typed: string): { found: Place[] | undefined; isFailed: boolean } {
  const [state, setState] = useState<{ found: Place[] | undefined; isFailed: boolean }>({
    found: undefined,
    isFailed: false,
  })
  useEffect(() => {
    if (typed.trim() === '') return
    let isOver = false
    loadPlaces().then(
      (find) => isOver || setState({ found: find(typed, MAX_FOUND), isFailed: false }),
      () => isOver || setState({ found: undefined, isFailed: true }),
    )
    return () => {
      isOver = true
    }
  }, [typed])
  return state
}
