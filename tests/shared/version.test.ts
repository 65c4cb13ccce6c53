import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { VERSION } from '../../shared/version.ts'

test('the version sent is that of package.json', () => {
  expect(VERSION).toBe(manifest.version)
})
