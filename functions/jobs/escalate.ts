import { judgeStep, type StepFacts, type StepRule } from '../../shared/decide/alert-step.ts'
import type { Sql } from '../../shared/sql.ts'

type Row = Omit<StepFacts, 'rule'> &
  StepRule & { alert_id: string; round: number; step: number; after_minutes: number }

/** What became of a step that was due. */
export type Escalated = {
  alert_id: string
  step: number
  after_minutes: number
  /** How many channels were told. */
  told?: number
  stopped?: string
  wait_until?: string
}

/**
 * Runs the steps that are due of up to `limit` alerts that nobody has acknowledged, in one transaction: each once, because
 * their alerts are locked and a step that ran is not due any more. Alerts that another process looks at are left to it.
 */
export async function escalate(sql: Sql, limit = 50): Promise<Escalated[]> {
  const rows = await sql<Row>`select * from private.due_steps(${limit})`
  const now = new Date()
  const done: Escalated[] = []
  for (const row of rows) {
    const { alert_id, round, step, after_minutes } = row
    const verdict = judgeStep({ ...row, rule: row }, now)
    const base = { alert_id, step, after_minutes }
    if ('run' in verdict) {
      const [ran] = await sql<{ told: number }>`
        select private.run_step(${alert_id}, ${round}, ${step}) as told`
      done.push({ ...base, told: ran?.told ?? 0 })
    } else if ('stop' in verdict) {
      await sql`select private.stop_step(${alert_id}, ${round}, ${step}, ${verdict.stop})`
      done.push({ ...base, stopped: verdict.stop })
    } else {
      const wait_until = verdict.wait_until.toISOString()
      await sql`select private.delay_step(${alert_id}, ${round}, ${step}, ${wait_until})`
      done.push({ ...base, wait_until })
    }
  }
  return done
}
