import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { everyFaultOf, sampleOf, strykerFaultsOf } from '../../scripts/proof/mutants/faults.ts'
import { isOfLoading, lineAround } from '../../scripts/proof/mutants/judge.ts'
import { intervalOf, sourcesOf } from '../../scripts/proof/mutants/mutants.ts'
import { faultsIn, faultsOf, templatesIn } from '../../scripts/proof/mutants/sql.ts'
import { closestTests, isAlone, isDear, testsFor } from '../../scripts/proof/mutants/tests.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** The faults of a statement, each as the statement it makes. */
const faulty = (sql: string) =>
  faultsIn(sql).map(({ at, was, now }) => sql.slice(0, at) + now + sql.slice(at + was.length))

describe('faults in SQL', () => {
  test.each<[sql: string, ...faulty: string[]]>([
    ['select 1 where a < 5', 'select 1 where a <= 5', 'select 1 where a < 6'],
    ['select 1 where a and b', 'select 1 where a or b'],
    ['select 1 where a or b', 'select 1 where a and b'],
    ['select 1 where a is null', 'select 1 where a is not null'],
    ['select 1 where a is not null', 'select 1 where a is null'],
    ['select 1 where not exists (select)', 'select 1 where exists (select)'],
    ['select 1 where a is distinct from b', 'select 1 where a is not distinct from b'],
    ["select now() - interval '30 days'", "select now() - interval '31 days'"],
    ['select least(a, b)', 'select greatest(a, b)'],
    ['select a for update', 'select a '],
    ['grant select on a to b;', ';'],
    ['create policy a on b using (c(d))', 'create policy a on b using (true)'],
    [
      'create table a (b int check (b > c))',
      'create table a (b int check (true))',
      'create table a (b int check (b >= c))',
    ],
    ['update a set b = d where c = $1', 'update a set b = d where c <> $1'],
    [
      'update a set b = case when c = d then 1 end, e = f',
      'update a set b = case when c <> d then 1 end, e = f',
    ],
    ['create unique index a on b (c)', 'create  index a on b (c)'],
  ])('%s', (sql, ...expected) => {
    expect(faulty(sql)).toEqual(expected)
  })

  test.each([
    "select 'a and b < c'",
    '-- a = b or c\nselect 1',
    'select 1 where a between b and c',
    'create or replace function a() returns int',
    'create trigger a before insert or update on b',
    'create table if not exists a (b int)',
    'select a -> b',
    'create index a on b (c desc) where d = 1 and e is null',
  ])('none where nothing is decided: %s', (sql) => {
    expect(faulty(sql)).toEqual([])
  })

  test('stand in the templates of TypeScript as well, and never in what fills them', () => {
    const hole = (code: string) => `\${${code}}`
    const tag = 'sql<{ a: string }>'
    const sql = `select ${hole(`a < b ? \`${hole('c')}\` : d`)} where e = ${hole('f')}`
    const source = `const rows = await ${tag}\`${sql}\`\nconst g = h < i`
    expect(templatesIn(source)).toHaveLength(1)
    const [fault, ...others] = faultsOf('a.ts', source)
    expect(others).toEqual([])
    expect(fault).toMatchObject({ was: '=', now: '<>', at: source.indexOf(`= ${hole('f')}`) })
  })

  test.each([
    'sql`T`',
    'sql<Row>`T`',
    'sql<{ a: string; b: Map<string, number> }>`T`',
    'client.query(`T`)',
    'client.query<Row>(`T`)',
    'client.query<{ a: string; b: number }>(\n  `T`, [1])',
  ])('are looked for in %j', (source) => {
    const given = source.replace('T', 'select 1 where a < b')
    expect(templatesIn(given)).toMatchObject([{ sql: 'select 1 where a < b' }])
    expect(faultsOf('a.ts', given)).toMatchObject([{ was: '<', now: '<=' }])
  })

  test('are found in every file of the schemas', () => {
    for (const source of sourcesOf(['sql', 'hub/sql'])) {
      expect(
        faultsOf(source, readFileSync(join(ROOT, source), 'utf8')).length,
        source,
      ).toBeGreaterThan(0)
    }
  })
})

test('every source has tests that judge it', () => {
  const sources = sourcesOf([])
  expect(sources.length).toBeGreaterThan(250)
  expect(sources.filter((source) => testsFor(source, ROOT).length === 0)).toEqual([])
  for (const source of ['shared/decide/burst.ts', 'hub/backup/manifest.ts']) {
    expect(closestTests(source, ROOT)).toContain(`tests/${source.replace('.ts', '.test.ts')}`)
    expect(testsFor(source, ROOT)).toEqual(expect.arrayContaining(closestTests(source, ROOT)))
  }
})

test('the tests of a fault are those of the line where the statement around it begins', async () => {
  const source =
    "const a = ['b']\nexport function c() {\n  return d\n    ? 'e'\n    : sql`f = g`\n}\n"
  const places = await strykerFaultsOf('a.ts', source)
  const lineOf = (was: string) =>
    lineAround(source, places, { at: source.indexOf(was), was, now: '' })
  expect(lineOf("'e'")).toBe("    ? 'e'")
  // StrykerJS changes a template of SQL as a whole only.
  expect(lineOf('f = g')).toBe('    : sql`f = g`')
  const isLoading = (was: string) => isOfLoading(source, { at: source.indexOf(was), was, now: '' })
  expect([isLoading("'b'"), isLoading("'e'")]).toEqual([true, false])
})

test('a schema is judged, and what only documents it is not', async () => {
  const source = "const A = z.enum(['a']).describe('b').meta({ id: 'C', example: ['d'] })"
  const faults = await everyFaultOf('a.ts', source)
  expect(faults.map(({ was }) => was).sort()).toEqual(["'a'", "['a']"])
})

test('tests are told apart by what they cost and by what they change for good', () => {
  expect(isDear('tests/functions/jobs/faults/crash.test.ts')).toBe(true)
  expect(isDear('tests/hub/missions/missions-kill.test.ts')).toBe(true)
  expect(isDear('tests/shared/backoff.test.ts')).toBe(false)
  const alone = globSync(
    ['tests/hub/{model,reader}/**/*.test.ts', 'tests/hub/http/access.attack.test.ts'],
    { cwd: ROOT },
  )
  expect(alone.length).toBeGreaterThan(5)
  expect(alone.filter((test) => !isAlone(test))).toEqual([])
  expect(isAlone('tests/hub/http/access.test.ts')).toBe(false)
})

test('every survivor that is explained is in a file that is there, with its reason', () => {
  const explained: { file: string; was: string; line?: string; why: string }[] =
    parse(readFileSync(join(ROOT, 'scripts/proof/mutants/survivors.yaml'), 'utf8')) ?? []
  const sources = new Map(
    sourcesOf([]).map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
  )
  for (const { file, was, line = '', why } of explained) {
    expect(sources.get(file) ?? '', file).toContain(was)
    expect(sources.get(file) ?? '', file).toContain(line)
    expect(why.length, file).toBeGreaterThan(20)
  }
})

describe('a sample of the faults', () => {
  const SOURCES = ['shared/backoff.ts', 'functions/log.ts', 'sql/66_on_request.sql']
  const textsOf = ({ bySource }: Awaited<ReturnType<typeof sampleOf>>) =>
    [...bySource].flatMap(([source, faults]) => faults.map((fault) => ({ source, ...fault })))

  test('names text that stands where it says, in code and in SQL', async () => {
    const taken = textsOf(await sampleOf(ROOT, SOURCES, 1_000))
    expect(new Set(taken.map(({ source }) => source))).toEqual(new Set(SOURCES))
    for (const { source, at, was, now } of taken) {
      expect(readFileSync(join(ROOT, source), 'utf8').startsWith(was, at)).toBe(true)
      expect(now).not.toBe(was)
    }
  })

  test('is contained in a larger one', async () => {
    const [small, large] = [await sampleOf(ROOT, SOURCES, 20), await sampleOf(ROOT, SOURCES, 60)]
    expect(textsOf(small)).toHaveLength(20)
    expect(textsOf(large)).toHaveLength(60)
    expect(textsOf(large)).toEqual(expect.arrayContaining(textsOf(small)))
    expect(small.of).toBe(large.of)
  })

  test('has as many of an area as the area has of all lines, and others by another seed', async () => {
    const linesOf = (source: string) => readFileSync(join(ROOT, source), 'utf8').split('\n').length
    const all = SOURCES.reduce((sum, source) => sum + linesOf(source), 0)
    const taken = await sampleOf(ROOT, SOURCES, 40)
    for (const source of SOURCES) {
      const share = (40 * linesOf(source)) / all
      expect(Math.abs((taken.bySource.get(source)?.length ?? 0) - share)).toBeLessThanOrEqual(1)
    }
    const others = await sampleOf(ROOT, SOURCES, 40, 'again')
    expect(textsOf(others)).toHaveLength(40)
    expect(textsOf(others)).not.toEqual(textsOf(taken))
    expect(textsOf(await sampleOf(ROOT, SOURCES, 40, 'again'))).toEqual(textsOf(others))
  })

  test('says between which scores that of all is', () => {
    const counts = { timeout: 0, invalid: 3, explained: 2 }
    expect(intervalOf({ ...counts, killed: 90, survived: 10 })).toEqual([0.826, 0.945])
    expect(intervalOf({ ...counts, killed: 0, survived: 0 })).toEqual([0, 1])
  })
})
