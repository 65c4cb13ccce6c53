import { applyPatch, createTwoFilesPatch, parsePatch } from 'diff'
import { bilingual, type Words } from '../../i18n/words.ts'
import { stopText } from '../stop.text.ts'

const say = bilingual(stopText)

export type Edit = { find: string; replace: string }
export type Change = { path: string; before: string; after: string }

/** applyEdits replaces each text that occurs exactly once; otherwise it returns what is wrong. */
export function applyEdits(before: string, edits: Edit[]): { after: string } | { error: Words } {
  let after = before
  for (const { find, replace } of edits) {
    const count = find === '' ? 0 : after.split(find).length - 1
    if (count !== 1) {
      return { error: say.not_once(count, find.slice(0, 80)) }
    }
    after = after.replace(find, () => replace)
  }
  return { after }
}

/** patchOf makes a unified diff of all changes, and tests that it can be parsed and applied. */
export function patchOf(changes: Change[]): string {
  const parts = changes.map(({ path, before, after }) =>
    createTwoFilesPatch(before === '' ? '/dev/null' : `a/${path}`, `b/${path}`, before, after),
  )
  const patch = parts.map((part) => part.replace(/^=+\n/, '')).join('')
  const parsed = parsePatch(patch)
  if (parsed.length !== changes.length)
    throw new Error('The patch does not parse as it was written.')
  for (const [index, { path, before, after }] of changes.entries()) {
    const one = parsed[index]
    if (!one || applyPatch(before, one) !== after) {
      throw new Error(`The patch of ${path} does not give what was meant.`)
    }
  }
  return patch
}
