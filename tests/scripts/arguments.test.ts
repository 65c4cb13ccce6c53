import { describe, expect, it } from 'vitest'
import { describeParts, partsIn, readArguments, UsageError } from '../../scripts/start/arguments.ts'

const PARTS = { api: { about: 'requests a second' }, matching: { about: 'zones of an event' } }
const HELP = 'See npm run bench -- --help'

describe('the parts of a command', () => {
  it.each<[string[], string[]]>([
    [[], ['api', 'matching']],
    [['matching'], ['matching']],
    [
      ['matching', 'api'],
      ['matching', 'api'],
    ],
  ])('are all, or those named, in their order: %j', (names, parts) => {
    expect(partsIn(PARTS, names, HELP)).toEqual(parts)
  })

  it.each(['apis', '', 'constructor'])('do not include "%s", and the error lists them', (name) => {
    const asked = () => partsIn(PARTS, ['api', name], HELP)
    expect(asked).toThrow(UsageError)
    expect(asked).toThrow(`Unknown part: ${name}. The parts are api, matching. ${HELP}`)
  })

  it('are described in a column', () => {
    expect(describeParts(PARTS)).toBe(
      '  api       requests a second\n  matching  zones of an event',
    )
  })
})

describe('wrong arguments', () => {
  it.each<[string[], string]>([
    [['--recrod', 'x'], `Unknown option '--recrod'. ${HELP}`],
    [['--record'], `Option '--record <value>' argument missing. ${HELP}`],
  ])('are named in one sentence: %j', (args, message) => {
    const read = () => readArguments({ args, options: { record: { type: 'string' } } }, HELP)
    expect(read).toThrow(UsageError)
    expect(read).toThrow(message)
  })
})
