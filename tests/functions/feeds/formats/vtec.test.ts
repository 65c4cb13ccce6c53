import { expect, test } from 'vitest'
import type { CapValue } from '../../../../functions/feeds/formats/cap.ts'
import { endsHazard, readVtec, subjectOf } from '../../../../functions/feeds/formats/vtec.ts'

const code = (action = 'NEW', number = '0013', product = 'O') =>
  `/${product}.${action}.KLOT.WS.W.${number}.260301T1200Z-260302T0600Z/`
const read = (...codes: string[]) => readVtec(codes.map((value): CapValue => ['VTEC', value]))

test('every code of an alert is read, under either name', () => {
  const values: CapValue[] = [
    ['VTEC', `${code()}\n/00000.0.ER.000000T0000Z.000000T0000Z.000000T0000Z.OO/`],
    ['NWSVTEC', `${code('CON', '0014', 'T')} ${code('UPG', '0015', 'X')}`],
    ['other', code('CAN')],
  ]
  expect(readVtec(values)).toEqual([
    { product: 'O', action: 'NEW', hazard: 'KLOT.WS.W.0013' },
    { product: 'T', action: 'CON', hazard: 'KLOT.WS.W.0014' },
    { product: 'X', action: 'UPG', hazard: 'KLOT.WS.W.0015' },
  ])
})

test.each([
  code().replace('/O.', '/A.'),
  code('NEWS'),
  code('NE'),
  code('new'),
  code('NEW', '13'),
  code().replace('KLOT', 'LOT'),
  code().replace('.WS.', '.W.'),
  code().replace('.W.', '.WW.'),
  code().replace('-', ' '),
  code().replace('T1200Z', 'T12Z'),
  code().slice(1),
  code().slice(0, -1),
])('%s is no code', (text) => {
  expect(read(text)).toEqual([])
})

test('a hazard ends when all that is said of it is an end', () => {
  for (const action of ['CAN', 'EXP', 'UPG']) expect(endsHazard(read(code(action)))).toBe(true)
  for (const action of ['NEW', 'CON', 'EXT', 'EXA', 'EXB', 'COR', 'ROU']) {
    expect(endsHazard(read(code(action))), action).toBe(false)
  }
  expect(endsHazard(read(code('CAN'), code('EXP')))).toBe(true)
  expect(endsHazard(read(code('CAN'), code('CON')))).toBe(false)
  expect(endsHazard([])).toBe(false)
})

test('an alert is about the first hazard that goes on, or else the first', () => {
  const subject = (...codes: string[]) => subjectOf(read(...codes))
  expect(subject()).toBeNull()
  expect(subject(code('CAN', '0001'), code('EXP', '0002'))).toBe('vtec:KLOT.WS.W.0001')
  expect(subject(code('CAN', '0001'), code('NEW', '0002'), code('NEW', '0003'))).toBe(
    'vtec:KLOT.WS.W.0002',
  )
})
