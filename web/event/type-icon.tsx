import {
  Activity,
  CircleDot,
  CloudLightning,
  Flame,
  type LucideIcon,
  Mountain,
  Plane,
  Ship,
  Sun,
  Swords,
  Tornado,
  Waves,
  WavesLadder,
} from 'lucide-react'
import { eventWords } from '../../shared/words/event-words.ts'
import type { Schemas } from '../api/client.ts'
import { useText } from '../ui/language.ts'

type EventType = Schemas['EventType']

const ICONS: Record<EventType, LucideIcon> = {
  earthquake: Activity,
  vessel: Ship,
  aircraft: Plane,
  wildfire: Flame,
  storm: Tornado,
  flood: WavesLadder,
  volcano: Mountain,
  tsunami: Waves,
  drought: Sun,
  weather: CloudLightning,
  conflict: Swords,
  other: CircleDot,
}

/** The glyph of a type of event. */
export function TypeIcon({ type, size = 16 }: { type: EventType; size?: number }) {
  const words = useText(eventWords)
  const Icon = ICONS[type]
  return (
    <Icon
      size={size}
      strokeWidth={1.75}
      role="img"
      aria-label={words.types[type]}
      className="shrink-0"
    />
  )
}
