import pg from 'pg'
import { expect } from 'vitest'
import { createTestDatabase } from '../support/servers/database.ts'
import { createWorld } from './world.ts'

/** A case: what it is about, the question, and what the world becomes before it is asked. */
export type Case = [about: string, question: string, before?: string]

/** A world in which questions are asked; nothing of what a case changes in it stays. */
export async function createQuestions() {
  const database = await createTestDatabase()
  const world = await createWorld(database)
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()

  /** Without ids and times, which are others in each run. */
  const lasting = (text: string) =>
    text
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => nameOf(id))
      .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+(Z|\+00:00)/g, 'TIME')
  const nameOf = (id: string) =>
    Object.entries(world.ids).find(([, one]) => one === id)?.[0] ?? 'ID'

  async function answer([about, question, before = 'select']: Case): Promise<string> {
    await client.query('begin; set local session_replication_role = replica')
    try {
      await client.query(before)
      const { rows } = await client.query({ text: question, rowMode: 'array' })
      return rows
        .map((row) => lasting(JSON.stringify(row.length === 1 ? row[0] : row)))
        .sort()
        .join('\n  ')
    } catch (error) {
      throw new Error(about, { cause: error })
    } finally {
      await client.query('rollback')
    }
  }
  return {
    world,
    /** Compares what cases answer with golden/<name>.txt. */
    async agree(name: string, cases: Case[]): Promise<void> {
      const lines: string[] = []
      for (const one of cases) lines.push(`${lasting(one[0])}\n  ${await answer(one)}\n`)
      await expect(lines.join('')).toMatchFileSnapshot(`golden/${name}.txt`)
    },
    async close() {
      await client.end()
      await database.drop()
    },
  }
}

/** Cases in which some columns of a row have other values: `asked` is about the row r. */
export const varied = (table: string, where: string, asked: string, changes: string[]): Case[] =>
  changes.map((change) => {
    const pairs = change === '' ? [] : change.split('; ').map((one) => one.split(/: (.*)/s))
    const patch = pairs.map(([column, value]) => `'${column}', ${value}`).join(', ')
    return [
      change || 'as it is',
      `select ${asked} from watchpost.${table} x
      cross join lateral jsonb_populate_record(x, jsonb_build_object(${patch})) r where x.${where}`,
    ]
  })

/** A time in the past, in SQL. */
export const ago = (time: string) => `now() - interval '${time}'`
