import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { writeJson } from '../../../hub/files.ts'
import { PROOF } from '../../support/proof.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { compose, makeProject, tell, until } from '../support/mission-help.ts'
import { type Asked, type StubModel, startStubModel } from '../support/stub-model.ts'

const LIMIT_MS = 180_000
/** Prepares, asks and looks; what works is a hub process of its own. */
let hub: TestHub
let stub: StubModel
let lock: pg.Client
let child: ChildProcess | undefined
beforeAll(async () => {
  stub = await startStubModel()
  hub = await startHub()
  await makeProject(hub)
  const models = join(hub.paths.config_dir, 'models.json')
  await writeJson(models, { kind: 'endpoint', url: stub.url, model: 'stub' })
  const url = new URL(inject('server').adminUrl)
  url.pathname = `/${hub.config.database.name}`
  lock = new pg.Client({ connectionString: url.href })
  await lock.connect()
}, LIMIT_MS)
afterEach(kill)
afterAll(async () => {
  await lock.end()
  await hub.close()
  await stub.close()
})

/** Starts the process and answers its port. */
async function start(): Promise<number> {
  const { config_dir, data_dir, prompts_dir } = hub.paths
  child = spawn(process.execPath, ['hub/main.ts'], {
    env: {
      ...process.env,
      HUB_CONFIG_DIR: config_dir,
      HUB_DATA_DIR: data_dir,
      HUB_PROMPTS_DIR: prompts_dir,
      HUB_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout?.on('data', (part) => {
    said += part
  })
  await until(async () => said.includes('"listening"'))
  return Number(/"msg":"listening","port":(\d+)/.exec(said)?.[1])
}

async function kill(): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  // Postgres notices only when it next speaks to the dead.
  await hub.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'watchpost-hub%' and state <> 'idle'
       and pid <> pg_backend_pid()`,
  )
}

async function addLead(name: string): Promise<string> {
  const data = { name: 'Ayşe', company: name, email: `${name.toLowerCase()}@demir.example` }
  const { lead } = await (await hub.call('POST', 'lead/quick_add', { slug: 'rota', data })).json()
  return lead.id
}

/** A mail of one question: nothing to cite. */
const mail = ({ name }: Asked) =>
  name.startsWith('design')
    ? { template: 'letter', preheader: 'Short', headline: 'Short', highlight: [] }
    : {
        subject: 'A question',
        sentences: [
          { text: 'Shall we talk on Thursday?', cites: [] },
          { text: 'Would a call suit you?', cites: [] },
        ],
        closing: 'Regards',
      }

const guide = ({ name }: Asked) =>
  name === 'outline'
    ? { title: 'Guide', headings: ['One', 'Two'] }
    : { paragraphs: ['A text.'], points: [] }

const statusOf = async (id: string) => (await tell(hub, id)).status
const stepsOf = async (id: string) => (await tell(hub, id)).steps.length
const blocked = () =>
  until(async () => {
    const rows = await hub.query(
      "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    )
    return rows.length > 0
  })

/** Where the process is killed, and how one knows that it is there. */
const PLACES: Record<string, (id: string) => Promise<void>> = {
  'queued, before anybody looked': async (id) => {
    expect(await statusOf(id)).toBe('queued')
  },
  'processing, in the first call of the model': async (id) => {
    stub.hold(true)
    await start()
    await until(async () => stub.asked.length > 0)
    expect(await statusOf(id)).toBe('processing')
  },
  'processing, in a later call of the model': async (id) => {
    await start()
    stub.script((asked) => {
      stub.hold(true)
      return mail(asked)
    })
    await until(async () => (await stepsOf(id)) > 2 && stub.asked.length > 1)
  },
  'processing, in the transaction that makes the draft': async () => {
    await lock.query('begin')
    await lock.query('lock table hub.drafts in exclusive mode')
    await start()
    await blocked()
  },
  'processing, when all is done but not yet said': async (id) => {
    await lock.query('begin')
    stub.script((asked) => mail(asked))
    await start()
    await until(async () => {
      const [row] = await hub.query<{ n: number }>(
        'select count(*)::int as n from hub.drafts where mission_id = $1',
        [id],
      )
      if (row?.n === 1) return true
      return ['done', 'failed'].includes(await statusOf(id))
    })
    await lock.query('select from hub.missions where id = $1 for update', [id])
  },
}

/** The long form takes every place, the short one the second and the last. */
const KILLED = Object.keys(PLACES).filter(
  (_, index, all) => PROOF || index === 1 || index === all.length - 1,
)

test('a hub that uses another key answers first, and ends with the code for a new start', async () => {
  const port = await start()
  const ended = child && once(child, 'exit')
  const settings = (name: string) => readFile(join(hub.paths.config_dir, name), 'utf8')
  const answer = await fetch(`http://127.0.0.1:${port}/api/cockpit/settings/service_key`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${(await settings('hub.token')).trim()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ key: (await settings('service.key')).trim() }),
  })
  expect(answer.status).toBe(202)
  expect(await answer.json()).toEqual({ restarting: true, key_role: 'hub_rw' })
  expect(await ended).toEqual([75, null])
})

describe('a hub that is killed', () => {
  test.each(KILLED)(
    '%s: the mission is done once',
    async (place) => {
      stub.hold(false)
      stub.script((asked) => mail(asked))
      const lead_id = await addLead(`Firma${Object.keys(PLACES).indexOf(place)}`)
      const id = await compose(hub, 'marketing', 'Write an email', { lead_ids: [lead_id] })
      await PLACES[place]?.(id)
      await kill()
      await lock.query('rollback')
      const before = (await tell(hub, id)).steps.map(({ name }) => name)
      stub.hold(false)
      stub.script((asked) => mail(asked))
      await start()
      const done = await until(async () => {
        const mission = await tell(hub, id)
        return ['done', 'failed'].includes(mission.status) && mission
      })
      expect(done.status, done.reason ?? '').toBe('done')
      const names = done.steps.map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
      expect(names.slice(0, before.length)).toEqual(before)
      // What was finished before is not asked again.
      const repeated = before.map((name) => name.replace(/ /g, '_'))
      expect(stub.asked.filter(({ name }) => repeated.includes(name))).toEqual([])
      const drafts = await hub.query<{ id: string; state: string }>(
        "select id, state from hub.drafts where audience ->> 'lead_id' = $1",
        [lead_id],
      )
      expect(drafts).toEqual([{ id: done.result?.drafts?.[0], state: 'rendered' }])
    },
    LIMIT_MS,
  )

  test(
    'between a file and the note of it leaves one file',
    async () => {
      stub.hold(false)
      stub.script((asked) => guide(asked))
      // The file is written, and its note waits for a lock of ours.
      await hub.query(`
        create or replace function private.wait_for_test() returns trigger language plpgsql
        as $$ begin perform pg_advisory_xact_lock(42); return new; end $$;
        grant execute on function private.wait_for_test to hub_rw;
        create or replace trigger wait_for_test before insert on hub.mission_steps
        for each row when (new.name = 'document') execute function private.wait_for_test()`)
      await lock.query('begin')
      await lock.query('select pg_advisory_xact_lock(42)')
      const id = await compose(hub, 'docs', 'write a guide')
      const files = async () => {
        const names = await readdir(join(hub.paths.data_dir, 'projects/rota/docs'))
        return names.filter((name) => name.includes(id.slice(0, 8)))
      }
      await start()
      await until(async () => (await files()).length === 1)
      await blocked()
      await kill()
      await lock.query('rollback')
      expect(await stepsOf(id)).toBe(3)
      await start()
      await until(async () => (await statusOf(id)) === 'done')
      expect(await files()).toHaveLength(1)
      expect((await tell(hub, id)).result?.documents).toHaveLength(1)
    },
    LIMIT_MS,
  )

  test(
    'while a mission waits for a yes: it still waits, and the yes of before the kill counts',
    async () => {
      const id = await compose(hub, 'web_research', 'read https://nobody.invalid')
      await start()
      const waiting = await until(async () => {
        const mission = await tell(hub, id)
        return (mission.waits_for === 'approval' || mission.status === 'failed') && mission
      })
      if (waiting.status === 'failed') return expect(waiting.reason).toContain('Chromium')
      await kill()
      const asked = async () =>
        (await (await hub.call('GET', 'approvals/list?project=rota')).json()).approvals.filter(
          (one: { mission_id: string }) => one.mission_id === id,
        )
      const [approval] = await asked()
      const yes = await hub.call('POST', 'approvals/approve', {
        id: approval.id,
        hash: approval.hash,
      })
      expect(yes.status).toBe(200)
      await start()
      await until(async () => (await statusOf(id)) === 'done')
      expect(await asked()).toMatchObject([{ status: 'done' }])
    },
    LIMIT_MS,
  )

  test(
    'leaves what has ended as it is',
    async () => {
      const before = await hub.query(
        'select id, status, result, finished_at from hub.missions where finished_at is not null order by id',
      )
      expect(before.length).toBeGreaterThan(3)
      const id = await compose(hub, 'docs', 'never begun')
      await hub.call('POST', 'mission/cancel', { id })
      await start()
      await kill()
      await start()
      expect(await statusOf(id)).toBe('cancelled')
      const after = await hub.query(
        'select id, status, result, finished_at from hub.missions where id = any($1) order by id',
        [before.map((row) => row.id)],
      )
      expect(after).toEqual(before)
    },
    LIMIT_MS,
  )

  test(
    'each time by the same mission gives it up with the reason',
    async () => {
      stub.script((asked) => guide(asked))
      stub.hold(true)
      const id = await compose(hub, 'docs', 'write what kills')
      for (let time = 1; time <= 4; time++) {
        const asked = stub.asked.length
        await start()
        await until(async () => stub.asked.length > asked)
        await kill()
      }
      await start()
      const given = await until(async () => {
        const mission = await tell(hub, id)
        return mission.status === 'failed' && mission
      })
      expect(given.reason).toContain('given up')
      stub.hold(false)
    },
    LIMIT_MS,
  )
})
