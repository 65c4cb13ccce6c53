import {
  Check,
  CircleDashed,
  CircleHelp,
  CircleX,
  type LucideIcon,
  MailCheck,
  PenLine,
  SendHorizontal,
  Timer,
  TriangleAlert,
} from 'lucide-react'
import { Badge } from '../../../../web/ui/badge.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { leadsText } from '../leads/leads.text.ts'
import { draftsText } from './drafts.text.ts'
import type { Draft, DraftState } from './queries.ts'

const LOOKS: Record<DraftState, { icon: LucideIcon; tone: 'plain' | 'good' | 'warn' | 'bad' }> = {
  draft: { icon: CircleDashed, tone: 'plain' },
  rendered: { icon: PenLine, tone: 'warn' },
  approved: { icon: Check, tone: 'good' },
  pushed: { icon: Timer, tone: 'good' },
  sending: { icon: SendHorizontal, tone: 'good' },
  sent: { icon: MailCheck, tone: 'good' },
  unclear: { icon: CircleHelp, tone: 'bad' },
  failed: { icon: TriangleAlert, tone: 'bad' },
  rejected: { icon: CircleX, tone: 'plain' },
}

/** The state of a draft: an icon and a word. */
export function StateBadge({ state }: { state: DraftState }) {
  const { states } = useText(draftsText)
  const { icon: Icon, tone } = LOOKS[state]
  return (
    <Badge tone={tone} icon={<Icon size={12} aria-hidden className="shrink-0" />}>
      {states[state]}
    </Badge>
  )
}

/** The audience of a draft, in words. */
export function useAudience(): (audience: Draft['audience']) => string {
  const text = useText(draftsText)
  const { stages } = useText(leadsText)
  return (audience) => {
    if (audience.kind === 'lead') return text.one_lead
    const { stage, tag, country, q, answered, lead_ids } = audience.filter
    const parts = [
      stage ? text.audience.stage(stages[stage]) : '',
      tag ? text.audience.tag(tag) : '',
      country ? text.audience.country(country) : '',
      q ? text.audience.q(q) : '',
      answered === undefined ? '' : answered ? text.audience.answered : text.audience.unanswered,
      lead_ids ? text.audience.chosen(lead_ids.length) : '',
    ].filter(Boolean)
    return parts.join(' · ') || text.every_lead
  }
}
