import {
  CircleCheck,
  CircleDashed,
  CircleX,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  TriangleAlert,
} from 'lucide-react'
import { Badge } from '../../../../web/ui/badge.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { missionsText } from './missions.text.ts'
import type { Mission, Status } from './queries.ts'

const LOOKS: Record<Status, { icon: LucideIcon; tone: 'plain' | 'good' | 'warn' | 'bad' }> = {
  queued: { icon: CircleDashed, tone: 'plain' },
  processing: { icon: LoaderCircle, tone: 'warn' },
  done: { icon: CircleCheck, tone: 'good' },
  failed: { icon: TriangleAlert, tone: 'bad' },
  cancelled: { icon: CircleX, tone: 'plain' },
}

/** The status of a mission, and what it waits for. */
export function StatusBadge({ mission }: { mission: Pick<Mission, 'status' | 'waits_for'> }) {
  const text = useText(missionsText)
  const { status, waits_for } = mission
  const isWaiting = status === 'queued' && waits_for !== null
  const { icon: Icon, tone } = LOOKS[status]
  const Shown = isWaiting ? Hourglass : Icon
  return (
    <Badge
      tone={isWaiting ? 'warn' : tone}
      icon={
        <Shown
          size={12}
          aria-hidden
          className={status === 'processing' ? 'shrink-0 animate-spin' : 'shrink-0'}
        />
      }
    >
      {isWaiting && waits_for ? text.waits[waits_for] : text.statuses[status]}
    </Badge>
  )
}
