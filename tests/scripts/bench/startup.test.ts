import { expect, test } from 'vitest'
import { firstPageBytes } from '../../../scripts/bench/startup.ts'
import { buildWeb } from '../../../scripts/build/build-web.ts'

test('the first page of the hub weighs no more than 170 KB, compressed', async () => {
  await buildWeb('hub')
  const bytes = await firstPageBytes()
  expect(bytes).toBeLessThan(170_000)
  // Its script and its styles are among them.
  expect(bytes).toBeGreaterThan(100_000)
})
