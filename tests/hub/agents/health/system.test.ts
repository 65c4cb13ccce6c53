import { describe, expect, test } from 'vitest'
import { MissionFailure } from '../../../../hub/agents/agent.ts'
import { ModelError } from '../../../../hub/model/error.ts'
import { runAlone, type Scene } from '../run-alone.ts'

const WORDS = { en: 'It did not work.', tr: 'Olmadı.' }
const DIAGNOSIS = { explanation: 'The hub is well.', severity: 'low', proposals: [] }

/** The report on these measurements. */
const report = (
  measured: Record<string, string | number | null>,
  {
    alert,
    fails,
    diagnosis = DIAGNOSIS,
  }: { alert?: string; fails?: Error; diagnosis?: object } = {},
) =>
  runAlone(
    {
      agent: 'system',
      task: { en: 'is all well?', tr: 'her şey iyi mi?' },
      input: alert === undefined ? {} : { alert: { kind: 'disk', message: alert } },
      answers: { diagnosis },
      more: {
        actions: {
          run: {},
          health: async () => measured,
        } as unknown as NonNullable<Scene['more']>['actions'], // safe: all that it uses of them
        ...(fails
          ? {
              complete: async () => {
                throw fails
              },
            }
          : {}),
      },
    },
    'en',
  )
const summaryOf = (log: string) => /"summary": "(.*)"/.exec(log)?.[1]

describe('without the word of a model', () => {
  test.each<[string, Error]>([
    ['that fails', new ModelError('crashed', WORDS)],
    ['whose answer does not hold', new MissionFailure(WORDS)],
  ])('a report of code stands instead of one %s', async (_, fails) => {
    const log = await report({ model_state: 'ready', missions_failed_24h: 2 }, { fails })
    expect(summaryOf(log)).toMatch(/\b2 missions\b/)
    expect(log).toContain('It did not work.')
    expect(log).not.toContain('Severity')
  })

  test('a mission that was cancelled has no report, and neither has a fault of the hub', async () => {
    const log = await report({}, { fails: new ModelError('cancelled', WORDS) })
    expect(log).toMatch(/^fails: It did not work\.$/m)
    await expect(report({}, { fails: new TypeError('A fault') })).rejects.toThrow('A fault')
  })

  test.each(['starting', 'crashed', 'unreachable', 'none'])(
    'no model is asked that is %s',
    async (model_state) => {
      expect(await report({ model_state })).not.toContain('asks the model')
    },
  )

  test.each<Record<string, string | null>>([{ model_state: 'ready' }, { model_state: null }, {}])(
    'a model is asked where its state is %j',
    async (measured) => {
      expect(summaryOf(await report(measured))).toBe('The hub is well.')
    },
  )

  test.each([
    ['The disk is full', 'The disk is full. '],
    ['The disk is full!', 'The disk is full! '],
    ['Is the disk full?', 'Is the disk full? '],
    ['The disk is full…', 'The disk is full… '],
  ])('the alert “%s” stands before what was found', async (alert, begins) => {
    const well = await report({ model_state: 'starting' }, { alert })
    expect(summaryOf(well)?.startsWith(begins)).toBe(true)
    const found = await report({ model_state: 'starting', missions_failed_24h: 2 }, { alert })
    expect(summaryOf(found)?.slice(begins.length)).toMatch(/^2 missions|\b2 missions\b/)
    // The document lists what was found below, and does not say it twice.
    expect(found.match(/\b2 missions\b/g)).toHaveLength(2)
    expect(summaryOf(found)).not.toContain(summaryOf(well)?.slice(begins.length))
  })
})

describe('a model', () => {
  test('is given what was measured, what is out of range and the alert', async () => {
    const measured = { model_state: 'ready', missions_failed_24h: 2, disk_free_percent: 3 }
    const log = await report(measured, { alert: 'Less\n space' })
    expect(log).toContain('[measured]\n  model_state: ready\n  missions_failed_24h: 2\n')
    expect(log).toMatch(
      /\[what is out of range\]\n {2}\S.*\n {2}\S.*\n\[alert\]\n {2}disk: Less space\n/,
    )
    expect(await report({ disk: null })).not.toContain('out of range')
    expect(await report({ disk: null })).toContain('[measured]\n  disk: –\n')
  })

  test.each([
    ['explains by a number that nobody measured', { explanation: 'The disk has 77 GB.' }],
    ['has such a reason', { proposals: [{ action: 'restart_model', why: 'It failed 77 times.' }] }],
  ])('is told so where it %s', async (_, diagnosis) => {
    const answers = [{ ...DIAGNOSIS, ...diagnosis }, DIAGNOSIS]
    expect(await report({}, { diagnosis: answers })).toMatch(/^objects: .*77/m)
  })
})
