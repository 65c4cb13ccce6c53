import { Pause, Play } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import type { MapFeature } from '../../api/queries.ts'
import { IconButton } from '../../ui/button.tsx'
import { onClock, timeNow } from '../../ui/clock.ts'
import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import { absolute } from '../../ui/time.tsx'
import { useWords } from '../../ui/words.tsx'
import { mapText } from './map.text.ts'

const STEPS = 240
const BARS = 48
const FRAME_MS = 100
const HEIGHT = 28

type Props = {
  hours: number
  window: 'day' | 'week'
  look: 'flat' | 'globe'
  /** Undefined: up to now, and what comes. */
  until: number | undefined
  events: MapFeature[]
  onUntil: (until: number | undefined) => void
  onWindow: (window: 'day' | 'week') => void
  onLook: (look: 'flat' | 'globe') => void
}

/** Which stretch of time the map shows, with a bar for the events of each part of it; it can be played. */
export function TimeSlider(props: Props) {
  const { hours, until, events, onUntil } = props
  const text = useText(mapText)
  const { locale } = useWords()
  const [isPlaying, setIsPlaying] = useState(false)
  const [now, setNow] = useState(timeNow())
  const span = hours * 3_600_000
  const step = until === undefined ? STEPS : Math.round(((until - (now - span)) / span) * STEPS)
  const show = (next: number) =>
    onUntil(next >= STEPS ? undefined : now - span + (next / STEPS) * span)

  useEffect(() => {
    if (!isPlaying) return
    const timer = setTimeout(() => {
      if (step >= STEPS) setIsPlaying(false)
      else show(step + 1)
    }, FRAME_MS)
    return () => clearTimeout(timer)
  })
  useEffect(() => {
    const look = () => setNow(timeNow())
    const timer = setInterval(look, 60_000)
    const forget = onClock(look)
    return () => {
      clearInterval(timer)
      forget()
    }
  }, [])

  const counts = useMemo(() => countsOf(events, now, span), [events, now, span])
  const most = Math.max(1, ...counts)
  return (
    <div className="flex items-center gap-3 border-t border-line bg-surface px-3 py-2 max-md:flex-wrap">
      <IconButton
        label={isPlaying ? text.pause : text.play}
        variant="secondary"
        onClick={() => {
          if (!isPlaying && step >= STEPS) show(0)
          setIsPlaying(!isPlaying)
        }}
      >
        {isPlaying ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
      </IconButton>
      <div className="relative min-w-40 flex-1">
        <svg
          width="100%"
          height={HEIGHT}
          viewBox={`0 0 ${BARS} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden
          className="block"
        >
          {counts.map((count, at) => (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
              key={at}
              x={at + 0.1}
              width={0.8}
              y={HEIGHT - (count / most) * HEIGHT}
              height={(count / most) * HEIGHT}
              fill={at / BARS <= step / STEPS ? 'var(--line-strong)' : 'var(--line)'}
            />
          ))}
        </svg>
        <input
          type="range"
          min={0}
          max={STEPS}
          value={step}
          aria-label={text.time}
          aria-valuetext={until ? absolute(new Date(until).toISOString(), locale) : text.now}
          onChange={({ target }) => {
            setIsPlaying(false)
            show(Number(target.value))
          }}
          className="block w-full"
        />
      </div>
      <output className="w-44 text-sm text-muted max-md:w-auto" data-numbers>
        {until ? absolute(new Date(until).toISOString(), locale) : text.now}
      </output>
      <Select
        aria-label={text.window}
        value={props.window}
        onChange={({ target }) => {
          onUntil(undefined)
          props.onWindow(target.value === 'week' ? 'week' : 'day')
        }}
        options={[
          { value: 'day', label: text.windows.day },
          { value: 'week', label: text.windows.week },
        ]}
      />
      <Select
        aria-label={text.look}
        value={props.look}
        onChange={({ target }) => props.onLook(target.value === 'globe' ? 'globe' : 'flat')}
        options={[
          { value: 'flat', label: text.flat },
          { value: 'globe', label: text.globe },
        ]}
      />
    </div>
  )
}

/** How many events each part of the window has, the oldest first. */
function countsOf(events: MapFeature[], now: number, span: number): number[] {
  const counts = Array.from({ length: BARS }, () => 0)
  for (const { properties } of events) {
    const at = Math.floor(((Date.parse(properties.ts) - (now - span)) / span) * BARS)
    const bar = Math.min(BARS - 1, at)
    if (bar >= 0) counts[bar] = (counts[bar] ?? 0) + (properties.cluster ? properties.count : 1)
  }
  return counts
}

/** The last edge between two bars up to a time, so that playing asks for no more than the bars. */
export function barBefore(until: number, hours: number): number {
  const bar = (hours * 3_600_000) / BARS
  return Math.floor(until / bar) * bar
}
