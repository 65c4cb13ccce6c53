import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import pg from 'pg'
import type { SMTPServerOptions } from 'smtp-server'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { readJson, writeJson } from '../../../../hub/files.ts'
import { PROOF } from '../../../support/proof.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, LEAD, setBrand, smtpSettings, startMailServer } from '../../support/mail-help.ts'
import { passDays, sequenceCalls } from '../sequences/sequence-help.ts'

const MAIN = resolve(import.meta.dirname, '../../../../hub/main.ts')
const PEOPLE = 4

let hub: TestHub
let api: ReturnType<typeof apiOf>
const children: ChildProcess[] = []
beforeAll(async () => {
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  const file = join(hub.paths.config_dir, 'hub.json')
  await writeJson(file, {
    ...((await readJson(file)) as object),
    public_url: 'https://hub.demir.example',
  })
  await api.ok('projects/create', { slug: 'demir', name: 'Demir' })
})
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child)
})
afterAll(() => hub.close())

/** A hub of its own: hub/main.ts on the same database and folders. */
function start(): ChildProcess {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HUB_CONFIG_DIR: hub.paths.config_dir,
      HUB_DATA_DIR: hub.paths.data_dir,
      HUB_PROMPTS_DIR: hub.paths.prompts_dir,
      HUB_PORT: '0',
    },
    stdio: 'ignore',
  })
  children.push(child)
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries > 1200) throw new Error('It did not come to that in a minute')
    await new Promise((wait) => setTimeout(wait, 50))
  }
}

/** Holds a recipient's row, so that the hub stands still before its next commit about it. */
async function lockRow(
  email: string,
  step: number | null = null,
): Promise<{ isWaitedFor: () => Promise<boolean>; release: () => Promise<void> }> {
  const url = new URL(inject('server').adminUrl)
  url.pathname = `/${hub.config.database.name}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  await client.query('begin')
  await client.query(
    `select from hub.recipients as mail where email = $1 and ($2::int is null or exists (
       select from hub.drafts where id = mail.draft_id and step = $2)) for update`,
    [email, step],
  )
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return {
    isWaitedFor: async () => {
      const waiting = await hub.query(
        'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
        [rows[0]?.pid],
      )
      return waiting.length > 0
    },
    release: async () => {
      await client.query('rollback')
      await client.end()
    },
  }
}

type Held = { reached: boolean; go: () => void }

/** A server that stands still at one place of the conversation with one recipient, once. */
async function standingServer(place: string, email: string) {
  const held: Held = { reached: false, go: () => {} }
  const hold = (at: string, address: string, next: () => void) => {
    if (at !== place || address !== email || held.reached) return next()
    held.reached = true
    held.go = next
  }
  const taken: string[] = []
  const options: SMTPServerOptions = {
    onRcptTo: ({ address }, _session, callback) => hold('recipient', address, () => callback()),
    onData(stream, session, callback) {
      const address = session.envelope.rcptTo[0]?.address ?? ''
      hold('data', address, () => {
        stream.resume()
        stream.on('end', () => {
          taken.push(address)
          hold('answer', address, () => callback())
        })
      })
    },
  }
  const server = await startMailServer(options)
  return { ...server, held, taken }
}

async function draftIn(tag: string): Promise<{ id: string; emails: string[] }> {
  const emails = Array.from({ length: PEOPLE }, (_, n) => `p${n}@${tag}.example`)
  for (const email of emails) {
    await api.ok('lead/quick_add', { slug: 'demir', data: { email, tags: [tag], ...LEAD } })
  }
  const { draft } = await api.ok('draft/create', {
    project: 'demir',
    audience: { kind: 'list', filter: { tag } },
    subject: 'A short question',
    text: 'Hello,\n\nwould you like to talk next week?',
  })
  for (const step of ['render', 'approve', 'push', 'send']) {
    await api.ok(`draft/${step}`, { id: draft.id, project: 'demir' })
  }
  return { id: draft.id, emails }
}

/** A sequence of two steps, approved; the hub that starts next sends its first one. */
async function sequenceIn(tag: string): Promise<{ id: string; emails: string[] }> {
  const emails = Array.from({ length: PEOPLE }, (_, n) => `p${n}@${tag}.example`)
  for (const email of emails) {
    await api.ok('lead/quick_add', { slug: 'demir', data: { email, tags: [tag], ...LEAD } })
  }
  const calls = sequenceCalls(
    () => hub,
    () => api,
  )
  const text = 'Hello,\n\nwould you like to talk next week?'
  const steps = [
    { wait_days: 0, subject: 'A short question', text },
    { wait_days: 3, text: 'Hello,\n\nshall I call you?' },
  ]
  const id = await calls.create({ tag }, { steps })
  await calls.approve(id)
  return { id, emails }
}

/** What became of the mails of a step. */
const stepStates = async (id: string, step: number) => {
  const rows = await hub.query<{ state: string }>(
    `select mail.state from hub.recipients as mail join hub.drafts as step on step.id = mail.draft_id
     where step.sequence_id = $1 and step.step = $2 order by mail.email`,
    [id, step],
  )
  return rows.map(({ state }) => state)
}

const statesOf = async (id: string) => {
  const rows = await hub.query<{ state: string }>(
    'select state from hub.recipients where draft_id = $1 order by email',
    [id],
  )
  return rows.map(({ state }) => state)
}
const stateOf = async (id: string) =>
  (await hub.query<{ state: string }>('select state from hub.drafts where id = $1', [id]))[0]?.state

/** Where the hub is killed; what the second of four people then is, and whether the server took that mail. */
const BOUNDARIES = [
  { name: 'before the commit of `sending`', lock: 'claim', place: '', second: 'sent', took: 1 },
  {
    name: 'behind the commit of `sending`, before DATA',
    place: 'recipient',
    second: 'unclear',
    took: 0,
  },
  { name: 'during DATA', place: 'data', second: 'unclear', took: 0 },
  {
    name: 'when the server has the mail, before its 250',
    place: 'answer',
    second: 'unclear',
    took: 1,
  },
  {
    name: 'behind the 250, before the commit of `sent`',
    lock: 'answer',
    place: 'answer',
    second: 'unclear',
    took: 1,
  },
] as const

// The long form takes every boundary, the short one the two at which a mail is at stake.
test.each(BOUNDARIES.filter((_, index) => PROOF || index === 1 || index === 3))(
  'killed $name: nobody gets it twice, the rest gets it',
  async (boundary) => {
    const { place, second, took } = boundary
    const lock = 'lock' in boundary ? boundary.lock : undefined
    const tag = `k${BOUNDARIES.findIndex(({ name }) => name === boundary.name)}`
    const server = await standingServer(place, `p1@${tag}.example`)
    await setBrand(api)
    await api.put('settings/mail', smtpSettings(server.port))
    const { id, emails } = await draftIn(tag)
    const [, email = ''] = emails

    const claim = lock === 'claim' ? await lockRow(email) : undefined
    const child = start()
    let blocked = claim
    if (place) await until(() => server.held.reached)
    if (lock === 'answer') {
      blocked = await lockRow(email)
      server.held.go()
    }
    if (blocked) await until(blocked.isWaitedFor)
    await kill(child)
    await blocked?.release()
    expect(await statesOf(id)).toEqual([
      'sent',
      lock === 'claim' ? 'pushed' : 'sending',
      'pushed',
      'pushed',
    ])

    const again = start()
    await until(async () => (await stateOf(id)) !== 'sending')
    expect(await statesOf(id)).toEqual(['sent', second, 'sent', 'sent'])
    expect(await stateOf(id)).toBe(second === 'unclear' ? 'unclear' : 'sent')
    const times = emails.map((one) => server.taken.filter((address) => address === one).length)
    expect(times).toEqual([1, took, 1, 1])

    await kill(again)
    start()
    await new Promise((wait) => setTimeout(wait, 3000))
    expect(server.taken).toHaveLength(3 + took)
    expect(await statesOf(id)).toEqual(['sent', second, 'sent', 'sent'])
    await server.close()
  },
  120_000,
)

// What differs from a draft: whoever is unclear gets no further step, and all others do, once each.
test.each(BOUNDARIES.filter((_, index) => PROOF || index === 4))(
  'a sequence killed $name: nobody gets a step twice, and nobody is dropped in silence',
  async (boundary) => {
    const { place, second, took } = boundary
    const lock = 'lock' in boundary ? boundary.lock : undefined
    const tag = `s${BOUNDARIES.findIndex(({ name }) => name === boundary.name)}`
    const server = await standingServer(place, `p1@${tag}.example`)
    await setBrand(api)
    await api.put('settings/mail', smtpSettings(server.port))
    const { id, emails } = await sequenceIn(tag)
    const [, email = ''] = emails

    const claim = lock === 'claim' ? await lockRow(email, 1) : undefined
    const child = start()
    let blocked = claim
    if (place) await until(() => server.held.reached)
    if (lock === 'answer') {
      blocked = await lockRow(email, 1)
      server.held.go()
    }
    if (blocked) await until(blocked.isWaitedFor)
    await kill(child)
    await blocked?.release()
    // The times of all mails of a step are found in one statement, which waits for the held row too.
    const left =
      lock === 'claim' ? Array(PEOPLE).fill('waiting') : ['sent', 'sending', 'pushed', 'pushed']
    expect(await stepStates(id, 1)).toEqual(left)

    const again = start()
    await until(
      async () => (await stepStates(id, 1)).join() === ['sent', second, 'sent', 'sent'].join(),
    )
    const taken = (one: string) => server.taken.filter((address) => address === one).length
    expect(emails.map(taken)).toEqual([1, took, 1, 1])

    await kill(again)
    await passDays(hub, 3)
    start()
    const isSure = second === 'sent'
    const next = ['sent', isSure ? 'sent' : 'waiting', 'sent', 'sent']
    await until(async () => (await stepStates(id, 2)).join() === next.join())
    expect(await stepStates(id, 1)).toEqual(['sent', second, 'sent', 'sent'])
    expect(emails.map(taken)).toEqual([2, took + (isSure ? 1 : 0), 2, 2])
    const { sequence } = (await api.get(`sequences/get?id=${id}&project=demir`)).body
    // Who is unclear is still in it, and the page asks what became of the mail.
    expect(sequence).toMatchObject({
      state: 'running',
      steps: [{ mails: { unclear: isSure ? 0 : 1 } }, {}],
    })
    await api.post('sequence/stop', { id, project: 'demir' })
    await server.close()
  },
  120_000,
)
