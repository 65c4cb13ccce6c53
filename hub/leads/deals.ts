import type { Sql } from '../../shared/sql.ts'
import { STAGES } from './lead.ts'

type Stage = (typeof STAGES)[number]
export type DealSettings = {
  /** Percent by stage. */
  probabilities: Partial<Record<Stage, number>>
  won_reasons: string[]
  lost_reasons: string[]
}

/** dealSettings returns a project's settings; one that never changed them has none. */
export async function dealSettings(sql: Sql, project_id: string): Promise<DealSettings> {
  const [row] = await sql<DealSettings>`
    select probabilities, won_reasons, lost_reasons
    from hub.deal_settings where project_id = ${project_id}`
  return row ?? { probabilities: {}, won_reasons: [], lost_reasons: [] }
}

export type StageSums = {
  stage: Stage
  leads: number
  without_amount: number
  sums: { currency: string; amount: number; weighted: number | null }[]
}

/** stageSums adds up a project's amounts by stage and currency; currencies are never mixed. */
export async function stageSums(sql: Sql, project_id: string): Promise<StageSums[]> {
  const { probabilities } = await dealSettings(sql, project_id)
  const rows = await sql<{
    stage: Stage
    currency: string | null
    leads: number
    amount: number | null
  }>`
    select stage, case when amount is not null then currency end as currency,
      count(*)::int as leads, sum(amount)::float8 as amount
    from hub.leads
    where project_id = ${project_id}
    group by 1, 2
    order by 4 desc nulls last, 2`
  return STAGES.map((stage) => {
    const own = rows.filter((row) => row.stage === stage)
    const percent = probabilities[stage]
    return {
      stage,
      leads: own.reduce((sum, { leads }) => sum + leads, 0),
      without_amount: own.find(({ currency }) => currency === null)?.leads ?? 0,
      sums: own.flatMap(({ currency, amount }) => {
        if (currency === null || amount === null) return []
        const weighted = percent === undefined ? null : Math.round(amount * percent) / 100
        return [{ currency, amount, weighted }]
      }),
    }
  })
}
