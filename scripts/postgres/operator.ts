import { userInfo } from 'node:os'
import type pg from 'pg'

/** Who acts, and how: by a command, or on the operator page. */
export type Operator = { name: string; via: 'command' | 'page' }

export const MAX_NAME = 80

/** userOperator is the operator of a command without a name: the user of this machine, also behind sudo. */
export function userOperator(): Operator {
  return { name: (process.env.SUDO_USER || systemUser()).slice(0, MAX_NAME), via: 'command' }
}

/** A container may run as a user without a name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}

/** nameOperator lets the audit log of this transaction say who acts. */
export async function nameOperator(client: pg.Client, { name, via }: Operator): Promise<void> {
  await client.query(
    `select set_config('watchpost.operator', $1, true), set_config('watchpost.operator_via', $2, true)`,
    [name, via],
  )
}

/** recordAct tells what an operator does that stands in nobody's log, or with more than that says. */
export async function recordAct(
  client: pg.Client,
  act: { action: string; type: string; id: string | null; details?: Record<string, unknown> },
): Promise<void> {
  await client.query('select private.record_operator_act($1, $2, $3, $4)', [
    act.action,
    act.type,
    act.id,
    JSON.stringify(act.details ?? {}),
  ])
}
