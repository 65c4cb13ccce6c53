import pg from 'pg'
import { z } from 'zod'
import type { Connection, Database } from '../../functions/db.ts'
import type { TestDatabase } from '../support/servers/database.ts'

export type Statement = { text: string; values: unknown[] }
export type Recorder = { db: Database; drain: () => Statement[] }

/** record keeps what is asked through a database, in its order. */
export function recordStatements(db: Database): Recorder {
  let statements: Statement[] = []
  return {
    db: {
      connect: async () => {
        const connection = await db.connect()
        const query: Connection['query'] = (text, values = []) => {
          statements.push({ text, values })
          return connection.query(text, values)
        }
        return { ...connection, query }
      },
      end: db.end,
    },
    drain: () => {
      const taken = statements
      statements = []
      return taken
    },
  }
}

type Node = {
  'Node Type': string
  'Relation Name'?: string | undefined
  'Index Name'?: string | undefined
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number | undefined
  'Rows Removed by Index Recheck'?: number | undefined
  Plans?: Node[] | undefined
}
const Node: z.ZodType<Node> = z.lazy(() =>
  z.object({
    'Node Type': z.string(),
    'Relation Name': z.string().optional(),
    'Index Name': z.string().optional(),
    'Actual Rows': z.number(),
    'Actual Loops': z.number(),
    'Rows Removed by Filter': z.number().optional(),
    'Rows Removed by Index Recheck': z.number().optional(),
    Plans: z.array(Node).optional(),
  }),
)
const Explained = z.object({ 'Query Text': z.string(), Plan: Node })
export type Plan = z.infer<typeof Explained>

/** How often each statement runs: from the sixth time on Postgres may choose one plan for all values. */
const TIMES = 7

/**
 * plansOf runs the statements of a request again, as its login and in its transactions, and
 * answers the plans Postgres really used for each and for all inside functions (by auto_explain).
 */
export async function plansOf(url: string, statements: Statement[]): Promise<Plan[]> {
  const client = new pg.Client({ connectionString: url })
  let plans: Plan[] = []
  client.on('notice', ({ message = '' }) => {
    const json = message.slice(message.indexOf('{'))
    if (/^duration: .* plan:/.test(message)) plans.push(Explained.parse(JSON.parse(json)))
  })
  await client.connect()
  try {
    for (let time = 0; time < TIMES; time += 1) {
      plans = []
      for (const [index, { text, values }] of statements.entries()) {
        await client.query(
          values.length > 0 ? { name: `s${index}`, text, values } : { text, values },
        )
      }
    }
    return plans
  } finally {
    await client.end()
  }
}

/** explainAll makes every later connection to a database tell its plans as notices. */
export async function explainAll(database: TestDatabase): Promise<void> {
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
  }
  for (const [name, value] of Object.entries(settings)) {
    await database.query(`alter database ${database.name} set ${name} = '${value}'`)
  }
}

export type Findings = { plans: number; scans: string[]; sorted: number; read: number }

/** look says what a plan reads of the large tables, and the most rows that any sort of it got. */
export function summarisePlans(plans: Plan[], large: string[]): Findings {
  const found: Findings = { plans: plans.length, scans: [], sorted: 0, read: 0 }
  for (const { Plan: top, 'Query Text': text } of plans) {
    const visit = (node: Node) => {
      const loops = node['Actual Loops']
      const table = node['Relation Name'] ?? ''
      const isScan = /Scan$/.test(node['Node Type']) && node['Relation Name'] !== undefined
      if (isScan && large.includes(table)) {
        const left =
          (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
        found.read += (node['Actual Rows'] + left) * loops
        if (node['Node Type'] === 'Seq Scan' && loops > 0) {
          found.scans.push(`${table} in: ${text.trim().replaceAll(/\s+/g, ' ').slice(0, 200)}`)
        }
      }
      if (/Sort$/.test(node['Node Type'])) {
        const input = node.Plans?.[0]
        if (input)
          found.sorted = Math.max(found.sorted, input['Actual Rows'] * input['Actual Loops'])
      }
      for (const child of node.Plans ?? []) visit(child)
    }
    visit(top)
  }
  return found
}
