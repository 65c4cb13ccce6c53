import { afterAll, beforeAll } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, LEAD, setBrand, smtpSettings, startMailServer } from '../../support/mail-help.ts'

/** Every hour of every day, so that a test does not depend on when it runs. */
export const ALWAYS = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from: '00:00',
  to: '24:00',
  time_zone: 'UTC',
}
export const STEPS = [
  {
    wait_days: 0,
    subject: 'A question for {company}',
    text: 'Hello {first_name},\n\nwould you like to talk?',
  },
  { wait_days: 3, text: 'Hello {first_name},\n\nshall I call you?' },
  {
    wait_days: 4,
    subject: 'One more question',
    text: 'Hello {first_name},\n\nis there anybody else?',
  },
]

/** Lets days pass: moves every time in the database back by so many. */
export async function passDays(hub: TestHub, days: number): Promise<void> {
  const columns = await hub.query<{ table: string; column: string }>(`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'hub' and data_type = 'timestamp with time zone'`)
  for (const [table, all] of Map.groupBy(columns, (one) => one.table)) {
    const sets = all.map(({ column }) => `${column} = ${column} - make_interval(days => $1)`)
    await hub.query(`update hub.${table} set ${sets.join(', ')}`, [days])
  }
}

type SequenceHub = Awaited<ReturnType<typeof startSequenceHub>>

/** What the tests of a file run on: see useSequences. */
export let hub: TestHub
export let smtp: SequenceHub['smtp']
export let api: SequenceHub['api']

/** Has the tests of this file run on a hub of their own; answers the calls for its sequences. */
export function useSequences() {
  let at: SequenceHub
  beforeAll(async () => {
    at = await startSequenceHub()
    ;({ hub, smtp, api } = at)
  })
  afterAll(() => at.close())
  return sequenceCalls(
    () => hub,
    () => api,
  )
}

/** A hub with the project `demir`, whose mails go to a server of the test. */
export async function startSequenceHub() {
  const smtp = await startMailServer()
  const hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  const api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
  const close = async () => {
    await hub.close()
    await smtp.close()
  }
  return { hub, smtp, api, close }
}

/** Calls for sequences of the project `demir`, on the hub that a file starts before them. */
export function sequenceCalls(hub: () => TestHub, api: () => ReturnType<typeof apiOf>) {
  const of = (id: string) => ({ id, project: 'demir' })
  const get = async (id: string) => (await api().get(`sequences/get?id=${id}&project=demir`)).body
  const standForAll = async (id: string) => {
    for (const { step_id, sentences } of (await get(id)).sentences) {
      for (const { sentence, verdict, stand } of sentences) {
        if (stand || verdict === 'harmless' || verdict === 'supported') continue
        await api().ok('sequence/stand', { ...of(id), step_id, sentence })
      }
    }
  }
  const add = async (name: string, more: object = {}) =>
    (
      await api().ok('lead/quick_add', {
        slug: 'demir',
        data: {
          name: `${name} Öz`,
          company: 'Öz',
          email: `${name}@client.example`,
          ...LEAD,
          ...more,
        },
      })
    ).lead
  /** Tells the groups of a file, and what belongs to them, from each other. */
  const counter = { n: 0 }
  return {
    counter,
    of,
    get,
    standForAll,
    add,
    /** A tag of its own with so many leads. */
    group: async (names: string[]): Promise<{ tag: string; ids: string[] }> => {
      counter.n += 1
      const tag = `group${counter.n}`
      const ids = []
      for (const name of names) ids.push((await add(`${name}${counter.n}`, { tags: [tag] })).id)
      return { tag, ids }
    },
    /** The gates of a sequence by name. */
    gatesOf: async (id: string): Promise<Record<string, object>> => {
      const { gates } = await get(id)
      return Object.fromEntries(gates.map((gate: { name: string }) => [gate.name, gate]))
    },
    create: async (filter: object, more: object = {}): Promise<string> => {
      const made = await api().ok('sequence/create', {
        project: 'demir',
        name: 'Three questions',
        filter,
        window: ALWAYS,
        steps: STEPS,
        ...more,
      })
      return made.sequence.id
    },
    approve: async (id: string) => {
      await standForAll(id)
      return api().ok('sequence/approve', of(id))
    },
    /** Two rounds: what was sent in the first gives the next step its time. */
    run: async () => {
      await hub().deps.mailer.run()
      await hub().deps.mailer.run()
    },
    people: async (id: string) => {
      const { recipients } = (await api().get(`sequences/recipients?id=${id}&project=demir`)).body
      return Object.fromEntries(
        recipients.map((one: { email: string }) => [one.email.split('@')[0], one]),
      )
    },
  }
}
