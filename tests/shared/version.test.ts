import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { VERSION } from '../../shared/version.ts'

test('the version on the wire is the package’s', () => {
  expect(VERSION).toBe(manifest.version)
})
