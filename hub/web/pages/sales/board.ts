import type { Lead } from '../leads/queries.ts'
import { STAGES, type Stage } from '../leads/stage.tsx'

export type Held = { id: string; from: Stage; over: Stage }
export type Columns = Record<Stage, Lead[]>

/**
 * Every lead in its column, newest first. Leads that were just moved are where they were placed.
 */
export function columnsOf(leads: Lead[], placed: Record<string, Stage>): Columns {
  const columns = Object.fromEntries(STAGES.map((stage) => [stage, [] as Lead[]])) as Columns // safe: one entry a stage
  const seen = new Set<string>()
  for (const lead of leads) {
    if (seen.has(lead.id)) continue
    seen.add(lead.id)
    columns[placed[lead.id] ?? lead.stage].push(lead)
  }
  for (const column of Object.values(columns)) {
    column.sort((a, b) =>
      a.created_at === b.created_at ? 0 : a.created_at < b.created_at ? 1 : -1,
    )
  }
  return columns
}

/** The neighbouring stage, or the same at either end of the board. */
function neighbourOf(stage: Stage, by: 1 | -1): Stage {
  const at = STAGES.indexOf(stage) + by
  return STAGES[Math.max(0, Math.min(STAGES.length - 1, at))] ?? stage
}

export type Move =
  | { kind: 'focus'; id: string }
  | { kind: 'pick'; held: Held }
  | { kind: 'hover'; held: Held }
  | { kind: 'put' }
  | { kind: 'put_back' }

/** What a key does on a card, depending on where the card is and whether it is picked up. */
export function moveOf(
  key: string,
  at: { id: string; stage: Stage; columns: Columns; held: Held | undefined },
): Move | undefined {
  const { id, stage, columns, held } = at
  const sideways = { ArrowLeft: -1, ArrowRight: 1 }[key] as 1 | -1 | undefined // safe: the values above
  if (held) {
    if (sideways)
      return { kind: 'hover', held: { ...held, over: neighbourOf(held.over, sideways) } }
    if (key === ' ' || key === 'Enter') return { kind: 'put' }
    return key === 'Escape' ? { kind: 'put_back' } : undefined
  }
  if (key === ' ') return { kind: 'pick', held: { id, from: stage, over: stage } }
  const row = columns[stage].findIndex((lead) => lead.id === id)
  const upDown = { ArrowUp: -1, ArrowDown: 1, k: -1, j: 1 }[key]
  if (upDown) return focusOn(columns[stage][row + upDown])
  if (!sideways) return undefined
  for (let next = neighbourOf(stage, sideways), last = stage; next !== last; ) {
    const column = columns[next]
    if (column.length > 0) return focusOn(column[Math.min(row, column.length - 1)])
    last = next
    next = neighbourOf(next, sideways)
  }
  return undefined
}

function focusOn(lead: Lead | undefined): Move | undefined {
  return lead && { kind: 'focus', id: lead.id }
}
