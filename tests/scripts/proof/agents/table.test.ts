import { expect, test } from 'vitest'
import type { Kept } from '../../../../scripts/proof/agents/run-task.ts'
import {
  BEGIN,
  END,
  renderPasses,
  runOf,
  withPasses,
} from '../../../../scripts/proof/agents/table.ts'

const kept = (agent: string, language: string, passed: boolean) =>
  ({ agent, language, passed }) as Kept // safe: the table looks at nothing else
const ABOUT = { model: 'tiny', at: '2026-11-23T10:00:00Z', version: '1.0.0', seconds: 119 }

test('the table counts passes by agent and language, and says what was not run', () => {
  const sales = [true, false, true, true, false].map((passed) => kept('sales', 'en', passed))
  const page = renderPasses([runOf(ABOUT, [...sales, kept('docs', 'tr', true)])])
  expect(page).toContain('| Agent | tiny, en | tiny, tr |')
  expect(page).toContain('| `sales` | 3 | not run |')
  expect(page).toContain('| `docs` | not run | 1 of 1 |')
  expect(page).toContain('| `ceo` | not run | not run |')
  expect(page).toContain('| all | 3 of 5 | 1 of 1 |')
  expect(page).toContain('- tiny: run on 2026-11-23 with version 1.0.0, in 2 minutes.')
})

test('only what stands between the marks of the page is replaced', () => {
  const page = `# Agents\n\n${BEGIN}\nold\n${END}\n\nafter\n`
  expect(withPasses(page, 'new')).toBe(`# Agents\n\n${BEGIN}\n\nnew\n\n${END}\n\nafter\n`)
  expect(withPasses(withPasses(page, 'new'), 'newer')).not.toContain('new\n')
  expect(() => withPasses('# Agents', 'new')).toThrow('no place')
})
