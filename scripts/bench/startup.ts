import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildWeb } from '../build/build-web.ts'
import { buildWorker, MAX_KIB, WORKERS } from '../build/workers.ts'
import { startManagementStub } from '../deploy/management-stub.ts'
import { uploadFunctions } from '../deploy/prove-upload.ts'
import { startPostgres } from '../postgres/postgres.ts'
import { measureStartup } from '../proof/startup.ts'
import { interleave, inWords, seconds } from './figure.ts'
import type { Ground } from './ground.ts'
import { startServer } from './programs.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const ROOT = resolve(import.meta.dirname, '../..')
const WEB = join(ROOT, 'dist/hub')
/** What Supabase accepts for one function, bundled. */
const MAX_FUNCTION_BYTES = 20_000_000
/** What a page may weigh, compressed, to be there within two seconds at 1.6 Mbit/s. */
const MAX_FIRST_PAGE_BYTES = 400_000

/** How long a start takes until the first answer, and how much has to be loaded for it on each platform. */
export async function benchStartup(ground: Ground): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-bench-start-'))
  try {
    await benchStarts(ground, folder)
    await benchWorkers(ground, folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  await benchUpload(ground)
  await benchFirstPage(ground)
}

/** Against PostgreSQL by itself, on a folder of the same age: no start of ours can be faster. */
async function benchStarts({ say, figure }: Ground, folder: string): Promise<void> {
  say(`Starting ${ROUNDS} times in a new folder and ${ROUNDS} times in an old one …`)
  let round = 0
  const ours = () => join(folder, `ours-${round}`)
  const theirs = () => join(folder, `postgres-${round}`)
  const measured = await interleave(ROUNDS, {
    postgres_first: () => {
      round += 1
      return startedPostgres(theirs())
    },
    first: () => firstAnswer(ours()),
    postgres_again: () => startedPostgres(theirs()),
    again: () => firstAnswer(ours()),
  })
  const { first, again, postgres_first, postgres_again } = measured
  for (const [name, value, alone] of [
    ['From npm start in a new folder to the first answer', first, postgres_first],
    ['From npm start to the first answer, the data being there', again, postgres_again],
  ] as const) {
    figure({
      name,
      value: value * 1000,
      unit: 'ms',
      against: `PostgreSQL alone, ${inWords(alone * 1000)} ms`,
      ratio: value / alone,
    })
  }
}

/** Stopping is not measured. */
async function startedPostgres(dataDir: string): Promise<number> {
  let stop = async () => {}
  const took = await seconds(async () => {
    ;({ stop } = await startPostgres({ dataDir }))
  })
  await stop()
  return took
}

async function firstAnswer(dataDir: string): Promise<number> {
  let stop = async () => {}
  const took = await seconds(async () => {
    const args = ['scripts/start.ts', '--port', '0', '--data-dir', dataDir, '--feeds', 'usgs']
    const server = await startServer(process.execPath, args, { cwd: ROOT })
    stop = server.stop
    const answer = await fetch(`${server.url}/api/sources/health`)
    if (answer.status !== 200) throw new Error(`the first answer is ${answer.status}`)
  })
  await stop()
  return took
}

async function benchWorkers({ say, figure }: Ground, folder: string): Promise<void> {
  say('Bundling the Workers …')
  for (const worker of WORKERS) {
    const value = await buildWorker(worker, join(folder, 'workers'))
    figure({
      name: `The Worker ${worker}, compressed`,
      value,
      unit: 'KiB',
      against: `Cloudflare’s limit of ${inWords(MAX_KIB)} KiB`,
      ratio: value / MAX_KIB,
      goal: { at_most: 1 },
    })
  }
  for (const { worker, startup_ms, max_ms } of await measureStartup()) {
    figure({
      name: `CPU time of the Worker ${worker} before its first answer`,
      value: startup_ms,
      unit: 'ms',
      against: `a limit of ${max_ms} ms`,
      ratio: startup_ms / max_ms,
      goal: { at_most: 1 },
    })
  }
}

async function benchUpload({ say, figure }: Ground): Promise<void> {
  say('Uploading to a stand-in of Supabase …')
  const stub = await startManagementStub()
  try {
    await uploadFunctions(stub, ROOT)
    for (const { slug, files } of stub.uploads) {
      const sizes = await Promise.all(
        files.map(async (file) => (await stat(join(stub.folder, slug, file))).size),
      )
      const value = sizes.reduce((sum, size) => sum + size, 0)
      figure({
        name: `The Supabase function ${slug}, without its packages`,
        value: value / 1024,
        unit: 'KiB',
        against: `Supabase’s limit of ${inWords(MAX_FUNCTION_BYTES / 1024)} KiB`,
        ratio: value / MAX_FUNCTION_BYTES,
        goal: { at_most: 1 },
        note: `${files.length} files`,
      })
    }
  } finally {
    await stub.stop()
  }
}

async function benchFirstPage({ figure, say }: Ground): Promise<void> {
  await buildWeb('hub', { log: say })
  const value = await firstPageBytes()
  figure({
    name: 'What the hub’s first page loads, compressed',
    value: value / 1024,
    unit: 'KiB',
    against: `a limit of ${inWords(MAX_FIRST_PAGE_BYTES / 1024)} KiB`,
    ratio: value / MAX_FIRST_PAGE_BYTES,
    goal: { at_most: 1 },
  })
}

/** The compressed bytes of the hub's page and of the scripts and styles that it names. */
export async function firstPageBytes(): Promise<number> {
  const page = await readFile(join(WEB, 'index.html'))
  const named = [...page.toString().matchAll(/(?:src|href)="\/hub\/([^"]+\.(?:js|css))"/g)]
  const files = await Promise.all(named.map(([, file = '']) => readFile(join(WEB, file))))
  return [page, ...files].reduce((sum, file) => sum + gzipSync(file).length, 0)
}
