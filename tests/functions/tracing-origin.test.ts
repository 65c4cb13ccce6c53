import { expect, test } from 'vitest'
import { originOf } from '../../functions/tracing/tracing.ts'

test.each([
  [undefined, {}],
  [null, {}],
  ['', {}],
  [
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    { parent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  ],
])('a job whose row has the trace %j goes on from %j', (trace, origin) => {
  expect(originOf(trace)).toEqual(origin)
})
