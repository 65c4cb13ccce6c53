import { expect } from 'vitest'
import { z } from 'zod'
import { isKey } from '../../shared/key.ts'
import { createTestDatabase, type TestDatabase } from './servers/database.ts'
import { createProcesses, type Processes } from './servers/processes.ts'

export const Minted = z.strictObject({ key_id: z.uuid(), api_key: z.string().refine(isKey) })
export const Account = z.strictObject({ user_id: z.uuid(), email: z.email(), plan: z.string() })

export type Admin = {
  database: TestDatabase
  processes: Processes
  /** Runs a verb of the CLI on the database. */
  run: (...args: string[]) => Promise<{ code: number | null; stdout: string; stderr: string }>
  /** Runs a verb that works; answers its one line of JSON. */
  answer: <S extends z.ZodType>(schema: S, ...args: string[]) => Promise<z.output<S>>
  /** Creates an account with a key, by the CLI. */
  account: (plan?: string) => Promise<z.output<typeof Account> & z.output<typeof Minted>>
  close: () => Promise<void>
}

/** createAdmin is for tests of `npm run admin`. */
export async function createAdmin(): Promise<Admin> {
  const database = await createTestDatabase()
  const processes = await createProcesses()
  let counter = 0

  const run: Admin['run'] = async (...args) => {
    const login = ['--database-url', database.adminUrl]
    const started = processes.run('scripts/admin.ts', [...args, ...login])
    const code = await started.ended
    return { code, stdout: started.stdout(), stderr: started.stderr() }
  }

  const answer: Admin['answer'] = async (schema, ...args) => {
    const { code, stdout, stderr } = await run(...args, '--json')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.trim().split('\n')).toHaveLength(1)
    return schema.parse(JSON.parse(stdout))
  }

  return {
    database,
    processes,
    run,
    answer,
    account: (plan = 'pro') => {
      counter += 1
      const email = `person${String(counter).padStart(3, '0')}@example.com`
      return answer(
        z.strictObject({ ...Account.shape, ...Minted.shape }),
        ...['account', 'create', '--email', email, '--plan', plan],
      )
    },
    close: async () => {
      await processes.close()
      await database.drop()
    },
  }
}
