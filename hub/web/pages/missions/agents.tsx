import {
  Activity,
  BookOpen,
  Calculator,
  ChartNoAxesColumn,
  Code,
  Compass,
  Globe,
  Lightbulb,
  type LucideIcon,
  Megaphone,
  Phone,
  Scale,
  ScanSearch,
  Shuffle,
  Wrench,
} from 'lucide-react'
import type { Schemas } from '../../api/client.ts'

export type Department = Schemas['Mission']['department']
export type AgentName = Exclude<Department, 'auto'>

/** The thirteen agents, each with its icon and its hue on one scale. */
const LOOKS: Record<AgentName, { icon: LucideIcon; hue: number }> = {
  research: { icon: ScanSearch, hue: 20 },
  web_research: { icon: Globe, hue: 45 },
  marketing: { icon: Megaphone, hue: 70 },
  sales: { icon: Phone, hue: 95 },
  engineer: { icon: Code, hue: 125 },
  engineer_system: { icon: Wrench, hue: 150 },
  docs: { icon: BookOpen, hue: 175 },
  finance: { icon: Calculator, hue: 200 },
  legal: { icon: Scale, hue: 230 },
  data: { icon: ChartNoAxesColumn, hue: 260 },
  pm: { icon: Lightbulb, hue: 290 },
  system: { icon: Activity, hue: 320 },
  ceo: { icon: Compass, hue: 350 },
}
export const AGENTS = Object.keys(LOOKS) as AgentName[] // safe: the keys of a constant

/** An agent's icon on its colour; `auto` means that no agent is chosen yet. */
export function AgentMark({ agent, size = 28 }: { agent: Department; size?: number }) {
  const { icon: Icon, hue } = agent === 'auto' ? { icon: Shuffle, hue: undefined } : LOOKS[agent]
  const colour =
    hue === undefined
      ? 'var(--muted)'
      : `light-dark(oklch(0.47 0.1 ${hue}), oklch(0.79 0.1 ${hue}))`
  return (
    <span
      aria-hidden
      className="inline-flex shrink-0 items-center justify-center rounded-control"
      style={{
        width: size,
        height: size,
        color: colour,
        background: `color-mix(in oklab, ${colour} 14%, transparent)`,
      }}
    >
      <Icon size={Math.round(size * 0.55)} />
    </span>
  )
}
