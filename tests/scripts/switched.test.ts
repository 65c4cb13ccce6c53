import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createVitest } from 'vitest/node'
import { withSwitches } from '../../scripts/proof/mutants/faults.ts'
import { linesOf } from '../../scripts/proof/mutants/said.ts'
import { withSwitchedSql } from '../../scripts/proof/mutants/sql.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** What is said of the faults in a source while its tests run, by what was changed. */
async function judged(source: string, tests: string, fault?: string) {
  const parent = join(ROOT, '.data')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'switched-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const isSql = source.includes('sql`')
  const { content, switches } = isSql
    ? withSwitchedSql(source)
    : await withSwitches('source.ts', source)
  writeFileSync(join(folder, 'source.ts'), content)
  const head = `import { beforeAll, expect, test } from 'vitest'\nimport { is, START } from './source.ts'\n`
  const always = [...switches].find(([, { was, now }]) => `${was} → ${now}` === fault)?.[0]
  writeFileSync(join(folder, 'a.test.ts'), `${head}${tests}`)
  const env = { MUTANTS_SWITCHED: folder, ...(always && { __STRYKER_ACTIVE_MUTANT__: always }) }
  const vitest = await createVitest('test', {
    root: folder,
    config: false,
    watch: false,
    reporters: [{}],
    maxWorkers: 1,
    env,
    include: ['*.test.ts'],
    runner: join(ROOT, 'scripts/proof/mutants/switched-runner.ts'),
    experimental: { viteModuleRunner: false },
  })
  onTestFinished(() => vitest.close())
  await vitest.start()
  const file = join(folder, 'said.ndjson')
  const said = existsSync(file) ? linesOf(readFileSync(file, 'utf8')) : []
  const nameOf = (id: string) => {
    const { was, now } = switches.get(id) ?? { was: id, now: '' }
    return `${was} → ${now}`
  }
  const by = (outcome: string) =>
    said.flatMap((one) => ('outcome' in one && one.outcome === outcome ? [nameOf(one.fault)] : []))
  return {
    killed: by('killed'),
    alive: by('alive'),
    late: by('timeout'),
    unfit: said.filter((one) => 'unfit' in one).length,
    again: said.filter((one) => 'again' in one).length,
    has_failed: vitest.state.getCountOfFailedTests() > 0,
    unjudged: said.flatMap((one) => ('unjudged' in one ? one.unjudged.map(nameOf) : [])),
  }
}

const SOURCE = `export const START = [7]
export const is = (n: number) => n > 3
`
const RIGHT = `test('large', () => expect(is(9)).toBe(true))
  test('small', () => expect(is(1)).toBe(false))`

describe('faults that are switched on while tests run', () => {
  test('are noticed by a test that fails with them alone', async () => {
    const { killed, alive, unfit, again, has_failed } = await judged(SOURCE, RIGHT)
    expect(killed).toEqual(
      expect.arrayContaining(['n > 3 → false', 'n > 3 → true', 'n > 3 → n <= 3']),
    )
    expect(killed).not.toContain('n > 3 → n >= 3')
    expect(alive.filter((one) => one === 'n > 3 → n >= 3')).toHaveLength(2)
    expect([unfit, again, has_failed]).toEqual([0, 0, false])
  })

  test('are judged once they are noticed, by no other test', async () => {
    const { killed } = await judged(SOURCE, `${RIGHT}\n${RIGHT}`)
    expect(new Set(killed).size).toBe(killed.length)
  })

  test('are not judged by a test that passes only once, nor by one that fails', async () => {
    const once = await judged(
      SOURCE,
      `let runs = 0
       test('once', () => { runs += 1; expect(is(9)).toBe(runs === 1) })`,
    )
    expect(once).toMatchObject({ killed: [], unfit: 1, again: 1 })
    const never = await judged(SOURCE, `test('never', () => expect(is(9)).toBe(false))`)
    expect(never).toMatchObject({ killed: [], alive: [], unfit: 1, again: 0 })
  })

  test('end the file when they leave tests that no longer pass', async () => {
    const { killed, again } = await judged(
      SOURCE,
      `let wrong = false
       test('first', () => { wrong ||= !is(9); expect(wrong).toBe(false) })
       test('second', () => { expect(is(1)).toBe(false) })`,
    )
    expect(again).toBe(1)
    expect(killed).toHaveLength(1)
  })

  test('are noticed when they make a test wait, or loop, for ever', async () => {
    const waits = await judged(
      SOURCE,
      `test('waits', async () => { while (!is(9)) await new Promise((go) => setTimeout(go, 20)) })`,
    )
    expect(waits.late).toHaveLength(1)
    expect(waits.again).toBe(1)
    const loops = await judged(
      'export const START = 1\nexport const is = (n: number) => { let i = 0\nwhile (i < n) i += 1\nreturn i }\n',
      `test('ends', () => expect(is(3)).toBe(3))`,
    )
    expect(loops.killed).toContain('i += 1 → i -= 1')
  })

  test('that act as a module is loaded run with whole files from their start', async () => {
    const tests = `test('start', () => expect(START).toEqual([7]))`
    const { unjudged, killed } = await judged(SOURCE, tests)
    expect(unjudged).toContain('[7] → []')
    expect(killed).toEqual([])
    expect(await judged(SOURCE, tests, '[7] → []')).toMatchObject({ has_failed: true })
    expect(await judged(SOURCE, tests, 'n > 3 → true')).toMatchObject({ has_failed: false })
    const sql = 'const sql = String.raw\nexport const is = 1\nexport const START = sql`a < b`\n'
    const text = `test('start', () => expect(START).toBe('a < b'))`
    expect(await judged(sql, text)).toMatchObject({ has_failed: false })
    expect(await judged(sql, text, '< → <=')).toMatchObject({ has_failed: true })
  })
})

test('faults in SQL are switched on as well, in templates inside others too', () => {
  const hole = (code: string) => `\${${code}}`
  const source = `const sql = String.raw\nanswer(sql\`select 1 where a < ${hole('x ? sql`b and c` : 2')}\`)`
  const { content, switches } = withSwitchedSql(source)
  const answers = (fault?: string) => {
    const [id] = [...switches].find(([, { was, now }]) => `${was} → ${now}` === fault) ?? []
    const answered: string[] = []
    const world = { __stryker__: { activeMutant: id, currentTestId: 'one' } }
    new Function('answer', 'x', 'globalThis', content)(
      (sql: string) => answered.push(sql),
      1,
      world,
    )
    return { answered, world }
  }
  expect(answers().answered).toEqual(['select 1 where a < b and c'])
  expect(answers('< → <=').answered).toEqual(['select 1 where a <= b and c'])
  expect(answers('and → or').answered).toEqual(['select 1 where a < b or c'])
  expect(answers().world.__stryker__).toMatchObject({
    mutantCoverage: { perTest: { one: { 'sql-0': 1, 'sql-1': 1 } } },
  })
})
