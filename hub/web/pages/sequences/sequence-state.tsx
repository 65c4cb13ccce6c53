import { Badge } from '../../../../web/ui/badge.tsx'
import { useText } from '../../../../web/ui/language.ts'
import type { Sequence } from './queries.ts'
import { sequencesText } from './sequences.text.ts'

const TONES = {
  draft: 'plain',
  running: 'good',
  paused: 'warn',
  done: 'plain',
  stopped: 'plain',
} as const

/** The state of a sequence as a badge. */
export function SequenceState({ state }: Pick<Sequence, 'state'>) {
  const text = useText(sequencesText)
  return <Badge tone={TONES[state]}>{text.states[state]}</Badge>
}
