import { describe, expect, test } from 'vitest'
import { runAlone, type Scene } from '../run-alone.ts'

const PLAN = { title: 'A change', summary: 'x is y', change: ['F1'], create: [] as string[] }
const EDIT = { edits: [{ find: 'x', replace: 'y' }] }

/** Asks for a patch of these files in the project's code, with these answers of the model. */
const patched = (
  files: Record<string, string>,
  answers: Record<string, unknown> = {},
  task = 'change it',
  more: Partial<Scene> = {},
) =>
  runAlone(
    {
      agent: 'engineer',
      task: { en: task, tr: task },
      files: Object.fromEntries(
        Object.entries(files).map(([path, text]) => [`code/${path}`, text]),
      ),
      answers: new Proxy({ plan: PLAN, ...answers } as Record<string, unknown>, {
        get: (given, name) => given[String(name)] ?? EDIT,
      }),
      ...more,
    },
    'en',
  )
/** The names of files as the model is shown them. */
const shown = (log: string) => [...log.matchAll(/^ {2}F\d+: (.*)$/gm)].map(([, path]) => path)
const failure = (log: string) => /^fails: (.*)$/m.exec(log)?.[1]

describe('the files that a model is shown', () => {
  const NAMES = ['a.py', 'Report.py', 'b.py', 'total.tar.gz', 'reports.js']
  test.each<[task: string, named: string[]]>([
    ['change it', NAMES],
    ['make REPORT.PY faster', ['Report.py', 'reports.js', 'a.py', 'b.py', 'total.tar.gz']],
    ['make the report faster', ['Report.py', 'reports.js', 'a.py', 'b.py', 'total.tar.gz']],
    ['make the reports faster', ['Report.py', 'reports.js', 'a.py', 'b.py', 'total.tar.gz']],
    ['change b.py', ['b.py', 'a.py', 'Report.py', 'total.tar.gz', 'reports.js']],
    ['change total', NAMES],
  ])('begin with those that “%s” names', async (task, named) => {
    const files = Object.fromEntries(NAMES.map((name) => [name, 'x\n']))
    expect(shown(await patched(files, {}, task))).toEqual(named)
  })

  test('are 150 at most, and it is said how many there are', async () => {
    const files = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}.txt`, 'x\n']))
    const whole = await patched(files(150))
    expect(shown(whole)).toHaveLength(150)
    expect(whole).not.toContain('leaves out')
    const more = await patched(files(151))
    expect(shown(more)).toHaveLength(150)
    expect(more).toMatch(/^leaves out: .*150.*151/m)
  })

  test('may be none', async () => {
    const created = { ...PLAN, change: ['none'], create: ['a.txt'] }
    const log = await patched({}, { plan: created, 'create a.txt': { lines: ['x', 'y\r\n'] } })
    expect(log).toContain('[files]\n  none yet\n')
    expect(log).toContain('+x\n  +y\n')
    expect(log).toContain('- a.txt')
  })
})

describe('a patch', () => {
  test('changes each file once, and says which were parsed', async () => {
    const log = await patched(
      { 'a.js': 'const x = 1\n', 'b.py': 'x = 1\n' },
      { plan: { ...PLAN, change: ['F1', 'F2'] } },
    )
    expect(log).toContain('Parsed with node --check: a.js\n')
    expect(log).toContain(
      'Not parsed, because only JavaScript and TypeScript can be checked here: b.py\n',
    )
    expect(log).toContain('-const x = 1\n')
    expect(log.match(/^step read /gm)).toHaveLength(2)
    const twice = await patched(
      { 'a.js': 'const x = 1\n' },
      { plan: { ...PLAN, change: ['F1', 'F1'] } },
    )
    expect(twice.match(/^step read /gm)).toHaveLength(1)
    expect(twice).not.toContain('Not parsed')
    expect(await patched({ 'b.py': 'x = 1\n' })).not.toContain('Parsed with')
  })

  test('with broken syntax ends the mission', async () => {
    const log = await patched(
      { 'a.js': 'const x = 1\n' },
      { 'edit a.js': { edits: [{ find: '= 1', replace: '= (' }] } },
    )
    expect(failure(log)).toContain('a.js')
    expect(log).not.toContain('writes')
  })

  test('of an edit that fits nowhere ends the mission', async () => {
    const wrong = { edits: [{ find: 'no such words', replace: 'y' }] }
    const log = await patched({ 'a.py': 'x\n' }, { 'edit a.py': [wrong, wrong] })
    expect(log).toMatch(/^objects: /m)
    expect(failure(log)).toContain('no such words')
  })

  test.each([
    [6000, undefined],
    [6001, /a\.py.*6,?001.*6,?000/],
  ])('of a file of %i characters fails with %s', async (length, words) => {
    const log = await patched({ 'a.py': `x${'z'.repeat(length - 1)}` })
    if (words) expect(failure(log)).toMatch(words)
    else expect(failure(log)).toBeUndefined()
  })

  test('of a file that is gone meanwhile ends the mission', async () => {
    const log = await patched({ 'a.py': 'x\n' }, {}, 'change it', {
      more: { read: async () => undefined },
    })
    expect(failure(log)).toContain('a.py')
  })

  test.each([
    ['../x.py'], ['/x.py'], ['x'], ['.x.py'], ['a//x.py'], ['a/b/c/d/e/x.py'], ['a.py'], ['x.toolongend'],
  ])('creates no file “%s”', async (path) => {
    const log = await patched(
      { 'a.py': 'x\n' },
      { plan: [{ ...PLAN, create: [path] }, { ...PLAN }] },
    )
    expect(log).toMatch(/^objects: /m)
  }) // biome-ignore format: a list

  test('has to change or create something', async () => {
    const log = await patched({ 'a.py': 'x\n' }, { plan: [{ ...PLAN, change: ['none'] }, PLAN] })
    expect(log).toMatch(/^objects: /m)
  })
})

describe('a patch of the hub', () => {
  test('is shown sixty of its sources, those that the task names first', async () => {
    const allowed = async () => ({ engineer_system: true })
    const log = await runAlone(
      {
        agent: 'engineer_system',
        task: { en: 'mail-address.ts is too long', tr: 'mail-address.ts çok uzun' },
        answers: {
          plan: PLAN,
          'edit agents/run/mail-address.ts': {
            edits: [{ find: 'An e-mail address', replace: 'An address' }],
          },
        },
        more: { actions: { run: {}, allowed } as unknown as NonNullable<Scene['more']>['actions'] }, // safe: all that it uses
      },
      'en',
    )
    expect(shown(log)[0]).toBe('agents/run/mail-address.ts')
    expect(shown(log)).toHaveLength(60)
    expect(shown(log).every((path) => /\.(ts|sql|md|mjml)$/.test(path ?? ''))).toBe(true)
    const others = shown(log).filter((path) => !/(?:mail|address)\.ts$/.test(path ?? ''))
    expect(others).toEqual(others.toSorted())
    expect(others).not.toEqual([])
    expect(log).toContain('hub/agents/run/mail-address.ts')
    expect(log).toContain('+/** An address inside a text')
  })
})
