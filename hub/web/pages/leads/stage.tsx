import type { Schemas } from '../../api/client.ts'

export const STAGES = [
  'new',
  'contacted',
  'replied',
  'meeting',
  'proposal',
  'won',
  'lost',
] as const satisfies readonly Schemas['Lead']['stage'][]
export type Stage = Schemas['Lead']['stage']

const RADIUS = 3.4
const FULL = 2 * Math.PI * RADIUS

/**
 * The icon of a stage: a ring that fills towards the deal, then a tick or a cross. It does not
 * depend on colour.
 */
export function StageMark({ stage, size = 14 }: { stage: Stage; size?: number }) {
  const share = STAGES.indexOf(stage) / 5
  const colour = `var(--stage-${stage})`
  return (
    <svg width={size} height={size} viewBox="0 0 14 14" aria-hidden className="shrink-0">
      {stage === 'won' || stage === 'lost' ? (
        <>
          <circle cx="7" cy="7" r="6.25" fill={colour} />
          <path
            d={stage === 'won' ? 'M4.2 7.2 6.2 9.2 9.9 5.2' : 'M5 5 9 9M9 5 5 9'}
            fill="none"
            stroke="var(--surface)"
            strokeWidth="1.6"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </>
      ) : (
        <>
          <circle
            cx="7"
            cy="7"
            r="6"
            fill="none"
            stroke={colour}
            strokeWidth="1.5"
            strokeDasharray={stage === 'new' ? '2.2 1.6' : undefined}
          />
          {share > 0 ? (
            <circle
              cx="7"
              cy="7"
              r={RADIUS / 2}
              fill="none"
              stroke={colour}
              strokeWidth={RADIUS}
              strokeDasharray={`${(FULL / 2) * share} ${FULL}`}
              transform="rotate(-90 7 7)"
            />
          ) : null}
        </>
      )}
    </svg>
  )
}
